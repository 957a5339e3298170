import { existsSync } from "node:fs";
import { join } from "node:path";
import type Router from "@koa/router";
import type { Context, Middleware } from "koa";
import { PATHS, type Path } from "../../dashboard/paths.ts";
import { AppError } from "../../shared/errors.ts";
import { howToBuild } from "../../shared/process/ownCommands.ts";
import { withTimeout } from "../../shared/timeouts.ts";
import { CACHING, readBuiltFiles, replaceInFile, sendBuiltFile } from "./builtFiles.ts";
import { firstAnswers } from "./firstAnswers.ts";

/** The output directory of `npm run build:dashboard`. */
export const DASHBOARD = join(import.meta.dirname, "..", "..", "..", "dist", "dashboard");

/** Returns whether the dashboard has been built. */
export const isBuilt = (directory: string): boolean => existsSync(join(directory, "index.html"));

/** Forbids inline code and resources of other hosts. */
export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
].join("; ");

/** Time after which the document is sent without the answers of the API. */
const ANSWERS_TIMEOUT_MS = 1_000;

/** The element of the document for its first content, and the request that its answers make needless. */
const FIRST = '<main class="first">';
const PRELOAD = /<link rel="preload"[^>]*>/;

const unbuilt = (basePath: string) =>
  noticePage(
    "The dashboard is not built",
    `<p>In the directory of the service, ${asHtml(howToBuild())}. Then restart the service.
The API works without the dashboard: see the <a href="${basePath}/docs">API reference</a>.</p>`,
  );

/**
 * Adds the dashboard's routes: its document at every path of the page's router, its files under /assets.
 * @param directory the build; without one, the paths answer 503 with instructions to build it
 * @param basePath the path that the paths in the document follow in the browser
 * @param api the layers that authenticate and answer requests to the API, whose first answers the document contains
 * @returns a function that responds with the document to a browser at an unknown address, and returns whether it has responded
 */
export function mountDashboard(
  router: Router,
  directory: string,
  { basePath = "", api }: { readonly basePath?: string; readonly api?: Middleware } = {},
): (ctx: Context) => boolean {
  const files = readBuiltFiles(directory);
  const index = files.get("index.html");
  const document = index && replaceInFile(index, '="/', `="${basePath}/`);
  const html = String(document?.bodies.identity).replace(PRELOAD, "");
  const show = async (ctx: Context, path: Path) => {
    const reading = document && api ? firstAnswers(ctx, path, api, basePath) : null;
    const answers = reading && (await withTimeout(reading, ANSWERS_TIMEOUT_MS).catch(() => null));
    if (document && !answers) return sendBuiltFile(ctx, document, { policy: POLICY, caching: CACHING.revalidate });
    if (!document) ctx.status = 503;
    ctx.type = "html";
    ctx.body = answers
      ? html.replace(
          FIRST,
          () => `<script type="application/json" id="first">${answers.json}</script>${FIRST}${answers.content}`,
        )
      : unbuilt(basePath);
    if (answers) ctx.set({ "Content-Security-Policy": POLICY, "Cache-Control": "no-store" });
  };
  for (const path of PATHS) router.get(path, (ctx) => show(ctx, path));
  router.get("/assets/:name", (ctx) => {
    const file = files.get(`assets/${ctx.params.name}`);
    if (!file)
      throw new AppError("not_found", {
        detail: `There is no file at ${ctx.path}. Reload the page to load the current version.`,
      });
    sendBuiltFile(ctx, file, { policy: POLICY, caching: CACHING.forever });
  });
  return (ctx) => {
    const isPage = ["GET", "HEAD"].includes(ctx.method) && ctx.accepts("json", "html") === "html";
    if (!document || !isPage) return false;
    ctx.vary("Accept");
    sendBuiltFile(ctx, document, { policy: POLICY, caching: CACHING.revalidate, status: 404 });
    return true;
  };
}

/** Returns a sentence as HTML, with `…` as code elements. The sentences contain no other markup than this. */
const asHtml = (text: string): string => text.replaceAll("<", "&lt;").replace(/`([^`]+)`/g, "<code>$1</code>");

/** Returns a page without style and scripts that says why another page cannot be shown. @param html the text below its heading */
const noticePage = (title: string, html: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signalbox</title>
</head>
<body>
<h1>${title}</h1>
${html}
</body>
</html>
`;
