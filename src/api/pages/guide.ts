import { join } from "node:path";
import type Router from "@koa/router";
import type { Context } from "koa";
import { AppError } from "../../shared/errors.ts";
import { howToBuild } from "../../shared/process/ownCommands.ts";
import { type BuiltFile, CACHING, readBuiltFiles, replaceInFile, sendBuiltFile } from "./builtFiles.ts";

/** The output directory of `npm run build:guide`. */
export const GUIDE = join(import.meta.dirname, "..", "..", "..", "dist", "guide");

/**
 * Forbids inline code and resources of other hosts. The colours of code blocks are style attributes, which cannot run
 * anything.
 */
const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "style-src-attr 'unsafe-inline'"],
  ...["img-src 'self' data:", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"],
].join("; ");

/** The types of the files that contain paths of the guide. */
const WITH_PATHS = [".html", ".js", ".css"];

const below = (basePath: string, file: BuiltFile): BuiltFile =>
  WITH_PATHS.includes(file.type) ? replaceInFile(file, "/guide/", `${basePath}/guide/`) : file;

/**
 * Adds the guide's pages and files under /guide. A page's path has no extension. The build contains `/guide/` in its links and
 * scripts, so that the base path is inserted there once.
 * @param directory the build; without one, every path is 404 with instructions to build it
 * @param basePath the path that `/guide` follows in the browser
 */
export function mountGuide(router: Router, directory: string, basePath = ""): void {
  const built = readBuiltFiles(directory);
  const files = basePath ? new Map([...built].map(([path, file]) => [path, below(basePath, file)])) : built;
  const missing = files.get("404.html");
  const show = (ctx: Context, path: string) => {
    const page = files.get(path === "" || path.endsWith("/") ? `${path}index.html` : `${path}.html`);
    if (page) return sendBuiltFile(ctx, page, { policy: POLICY, caching: CACHING.revalidate });
    const file = files.get(path);
    const caching = path.startsWith("assets/") ? CACHING.forever : CACHING.revalidate;
    if (file) return sendBuiltFile(ctx, file, { policy: POLICY, caching });
    if (!missing) {
      throw new AppError("not_found", {
        detail: `The guide is not built: ${howToBuild()} in the service's directory, and start the service again.`,
      });
    }
    if (!ctx.accepts("html")) throw new AppError("not_found", { detail: `There is no page at ${ctx.path}.` });
    sendBuiltFile(ctx, missing, { policy: POLICY, caching: CACHING.revalidate });
    ctx.status = 404;
  };
  // A relative address, so that it also holds behind a proxy that serves Signalbox below a path.
  router.get("/guide", (ctx) => ctx.redirect("guide/"));
  router.get("/guide/", (ctx) => show(ctx, ""));
  router.get("/guide/*path", (ctx) => show(ctx, ctx.path.slice("/guide/".length)));
}
