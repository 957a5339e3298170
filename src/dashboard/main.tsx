import { render } from "preact";
import { App } from "./app.tsx";
import { startClock } from "./clock.ts";
import { access, followLoginChanges, readAccess } from "./data/access.ts";
import { followLinks } from "./router.ts";
import { applyTheme } from "./theme.ts";

applyTheme();
followLinks();
followLoginChanges();
startClock();
if (!access.value) void readAccess();
render(<App />, document.getElementById("page") as HTMLElement);
