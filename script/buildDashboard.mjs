/** Builds the dashboard and the frame of the guide into dist/dashboard: `npm run build:dashboard`. */
import { join } from "node:path";
import { build } from "vite";
import { sourcesOf } from "./bootstrap/sources.mjs";
import { publishBuild } from "./publishBuild.mjs";

const root = join(import.meta.dirname, "..");
const place = join(root, "dist", "dashboard");
const made = `${place}.new-${process.pid}`;

const sources = sourcesOf(root);
await build({
  configFile: join(import.meta.dirname, "vite.config.ts"),
  logLevel: "warn",
  build: { outDir: made },
});
publishBuild(made, place, sources);
