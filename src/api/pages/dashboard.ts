import { existsSync } from "node:fs";
import { join } from "node:path";
import type Router from "@koa/router";
import type { Context } from "koa";
import { PATHS } from "../../dashboard/paths.ts";
import { AppError } from "../../shared/errors.ts";
import { howToBuild } from "../../shared/process/ownCommands.ts";
import { CACHING, readBuiltFiles, replaceInFile, sendBuiltFile } from "./builtFiles.ts";

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
 * @returns a function that responds with the document to a browser at an unknown address, and returns whether it has responded
 */
export function mountDashboard(router: Router, directory: string, basePath = ""): (ctx: Context) => boolean {
  const files = readBuiltFiles(directory);
  const index = files.get("index.html");
  const document = index && replaceInFile(index, '="/', `="${basePath}/`);
  const show = (ctx: Context) => {
    if (document) return sendBuiltFile(ctx, document, { policy: POLICY, caching: CACHING.revalidate });
    ctx.status = 503;
    ctx.type = "html";
    ctx.body = unbuilt(basePath);
  };
  for (const path of PATHS) router.get(path, show);
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
