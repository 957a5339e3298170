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
const page = document.getElementById("page") as HTMLElement;
page.replaceChildren(); // the first content, which came with the document
render(<App />, page);
