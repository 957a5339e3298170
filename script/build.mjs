/** Builds the dashboard, if it is missing or stale: `npm run build`. */
import { join } from "node:path";
import { dashboard } from "./bootstrap/pages.mjs";

const root = join(import.meta.dirname, "..");
if (!dashboard.isDone({ root })) await import("./buildDashboard.mjs");
