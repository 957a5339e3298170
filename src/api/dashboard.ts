import { existsSync } from "node:fs";
import { join } from "node:path";
import type Router from "@koa/router";
import type { Context } from "koa";
import { PATHS } from "../dashboard/paths.ts";
import { AppError } from "../shared/errors.ts";
import { CACHING, readBuiltFile, readBuiltFiles, replaceInFile, sendBuiltFile } from "./builtFiles.ts";

/** The output directory of `npm run build:dashboard`. */
export const DASHBOARD = join(import.meta.dirname, "..", "..", "dist", "dashboard");

/** Returns whether the dashboard has been built. */
export const isBuilt = (directory: string): boolean => existsSync(join(directory, "index.html"));

/** Forbids inline code and resources of other hosts. */
const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'"],
  ...["font-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"],
].join("; ");

const unbuilt = (basePath: string) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signalbox</title>
</head>
<body>
<h1>The dashboard is not built</h1>
<p>Run <code>npm run build</code> in the directory of the service, then restart the service.
The API works without the dashboard: see the <a href="${basePath}/docs">API reference</a>.</p>
</body>
</html>
`;

/**
 * Adds the dashboard's routes: its document at every path of the page's router, its files under /assets. Reads the files
 * once, so that a later build never mixes with the one that is served.
 * @param directory the build; without one, the paths answer 503 with instructions to build it
 * @param basePath the path that the paths in the document follow in the browser
 */
export function mountDashboard(router: Router, directory: string, basePath = ""): void {
  const index = join(directory, "index.html");
  const document = isBuilt(directory) && replaceInFile(readBuiltFile(index), '="/', `="${basePath}/`);
  const show = (ctx: Context) => {
    if (document) return sendBuiltFile(ctx, document, { policy: POLICY, caching: CACHING.revalidate });
    ctx.status = 503;
    ctx.type = "html";
    ctx.body = unbuilt(basePath);
  };
  for (const path of PATHS) router.get(path, show);
  const assets = readBuiltFiles(join(directory, "assets"));
  router.get("/assets/:name", (ctx) => {
    const file = assets.get(ctx.params.name ?? "");
    if (!file)
      throw new AppError("not_found", {
        detail: `There is no file at ${ctx.path}. Reload the page to load the current version.`,
      });
    sendBuiltFile(ctx, file, { policy: POLICY, caching: CACHING.forever });
  });
}
