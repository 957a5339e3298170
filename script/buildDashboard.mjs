/**
 * Builds the dashboard into dist/dashboard: `npm run build:dashboard`. Adds compressed copies of compressible files,
 * the viewer of the API's documentation, and a stamp that identifies the sources. The finished build replaces the previous one by renames, so that no process
 * sees a partial build.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import swaggerUiPath from "swagger-ui-dist/absolute-path.js"; // The main module would load the whole viewer.
import { build } from "vite";
import { DASHBOARD_STAMP, dashboardSources } from "./bootstrap/dashboardSources.mjs";

const MIN_BYTES = 1_024; // Compressing smaller files saves no packet.

/** Files of swagger-ui-dist. The package has 12 MB, so that it is installed for the build alone. */
const VIEWER = ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png", "LICENSE"];

const root = join(import.meta.dirname, "..");
const place = join(root, "dist", "dashboard");
const made = `${place}.new-${process.pid}`;
const former = `${place}.old-${process.pid}`;

const sources = dashboardSources(root);
await build({
  configFile: join(import.meta.dirname, "vite.config.ts"),
  logLevel: "warn",
  build: { outDir: made },
});
for (const path of [join(made, "index.html"), ...assetsOf(made)]) compress(path);
mkdirSync(join(made, "docs"));
for (const name of VIEWER) copyFileSync(join(swaggerUiPath(), name), join(made, "docs", name));
writeFileSync(join(made, DASHBOARD_STAMP), sources);
mkdirSync(join(root, "dist"), { recursive: true });
if (existsSync(place)) renameSync(place, former);
renameSync(made, place);
rmSync(former, { recursive: true, force: true });

/** @param {string} directory */
function assetsOf(directory) {
  const assets = join(directory, "assets");
  return readdirSync(assets).map((name) => join(assets, name));
}

/** @param {string} path */
function compress(path) {
  const content = readFileSync(path);
  if (content.length < MIN_BYTES) return;
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length };
  writeFileSync(`${path}.br`, brotliCompressSync(content, { params }));
}
