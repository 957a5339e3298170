import { render } from "preact";
import { App } from "./app.tsx";
import { startClock } from "./clock.ts";
import { followLinks } from "./router.ts";
import { readAccess } from "./session.ts";
import { applyTheme } from "./theme.ts";

applyTheme();
followLinks();
startClock();
void readAccess();
render(<App />, document.getElementById("page") as HTMLElement);
