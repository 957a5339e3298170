/** Builds the dashboard and the viewer of the API reference into dist/dashboard: `npm run build:dashboard`. */
import { copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import swaggerUiPath from "swagger-ui-dist/absolute-path.js"; // The main module would load the whole viewer.
import { build } from "vite";
import { sourcesOf } from "./bootstrap/sources.mjs";
import { publishBuild } from "./publishBuild.mjs";

/** Files of swagger-ui-dist. The package has 12 MB, so that it is installed for the build alone. */
const VIEWER = ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png", "LICENSE"];

const root = join(import.meta.dirname, "..");
const place = join(root, "dist", "dashboard");
const made = `${place}.new-${process.pid}`;

const sources = sourcesOf(root, "dashboard");
await build({
  configFile: join(import.meta.dirname, "vite.config.ts"),
  logLevel: "warn",
  build: { outDir: made },
});
mkdirSync(join(made, "docs"));
for (const name of VIEWER) copyFileSync(join(swaggerUiPath(), name), join(made, "docs", name));
publishBuild(made, place, sources);
