/** Builds the guide, the pages of docs/ with search, into dist/guide: `npm run build:guide`. */
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "vitepress";
import { sourcesOf } from "./bootstrap/sources.mjs";
import { publishBuild } from "./publishBuild.mjs";

const BASE = "/guide/";

const root = join(import.meta.dirname, "..");
const place = join(root, "dist", "guide");
const made = `${place}.new-${process.pid}`;

const sources = sourcesOf(root, "guide");
await build(join(root, "docs"), { outDir: made });
rmSync(join(made, "hashmap.json"));
copyFileSync(join(root, "src", "dashboard", "icon.svg"), join(made, "icon.svg"));
for (const name of readdirSync(made, { recursive: true }).map(String)) {
  if (name.endsWith(".html")) moveInlineScripts(join(made, name));
}
publishBuild(made, place, sources);

/**
 * Moves the inline scripts of a page to files, because the policy of the served pages forbids them, and removes links
 * to style sheets that VitePress names without writing them.
 * @param {string} path
 */
function moveInlineScripts(path) {
  const page = readFileSync(path, "utf8")
    .replace(/<script id="([\w-]+)">(.+?)<\/script>/gs, (_, id, code) => {
      const name = `${id}.${createHash("sha256").update(code).digest("hex").slice(0, 8)}.js`;
      writeFileSync(join(made, "assets", name), code);
      return `<script src="${BASE}assets/${name}"></script>`;
    })
    .replace(/\s*<link rel="preload stylesheet" href="([^"]+)"[^>]*>/g, (link, href) =>
      existsSync(join(made, href.slice(BASE.length))) ? link : "",
    );
  writeFileSync(path, page);
}
