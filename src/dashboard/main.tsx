import { render } from "preact";
import { App } from "./app.tsx";
import { startClock } from "./clock.ts";
import { followLogIns, readAccess } from "./data/session.ts";
import { followLinks } from "./router.ts";
import { applyTheme } from "./theme.ts";

applyTheme();
followLinks();
followLogIns();
startClock();
void readAccess();
render(<App />, document.getElementById("page") as HTMLElement);
