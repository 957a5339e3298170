/** Builds what a deployment needs besides its sources, if it is missing or stale: `npm run build`. */
import { join } from "node:path";
import { dashboard } from "./bootstrap/dashboard.mjs";

if (!dashboard.isDone({ root: join(import.meta.dirname, "..") })) await import("./buildDashboard.mjs");
