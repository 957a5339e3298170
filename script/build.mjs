/** Builds the dashboard and the guide, if they are missing or stale: `npm run build`. */
import { join } from "node:path";
import { dashboard, guide } from "./bootstrap/pages.mjs";

const root = join(import.meta.dirname, "..");
if (!dashboard.isDone({ root })) await import("./buildDashboard.mjs");
if (!guide.isDone({ root })) await import("./buildGuide.mjs");
