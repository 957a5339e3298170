import { join } from "node:path";
import type Router from "@koa/router";
import type { Context } from "koa";
import { AppError } from "../../shared/errors.ts";
import { howToBuild } from "../../shared/process/ownCommands.ts";
import { html } from "../../shared/text/html.ts";
import {
  type BuiltFile,
  builtText,
  CACHING,
  readBuiltFiles,
  replaceInFile,
  sendBuiltFile,
} from "../pages/builtFiles.ts";
import { POLICY } from "../pages/dashboard.ts";
import { Docs, INDEX } from "./docs.ts";
import { createFrame, results } from "./frame.ts";
import { MAX_QUERY } from "./search.ts";

const DOCS = join(import.meta.dirname, "..", "..", "..", "docs");

/**
 * Adds the guide: the pages of docs/ under /guide, in a frame that is built with the dashboard, and a search. A page's path has
 * no extension. The pages are read at the first request, and each is rendered when it is first asked for.
 * @param directory the build of the dashboard; without one, every path is 404 with instructions to build it
 * @param basePath the path that `/guide` follows in the browser
 */
export function mountGuide(router: Router, directory: string, basePath = ""): void {
  const home = `${basePath}/guide/`;
  const template = readBuiltFiles(directory).get("guide.html");
  let loaded: ReturnType<typeof load> | undefined;
  const load = (built: BuiltFile) => {
    const files = readBuiltFiles(DOCS);
    const docs = new Docs(files);
    const text = String(replaceInFile(built, '="/', `="${basePath}/`).bodies.identity);
    // The build does not keep the attribute.
    const frame = createFrame(text.replace('<script type="module"', '$& blocking="render"'), home, docs.groups());
    return { files, docs, frame, pages: new Map<string, BuiltFile>() };
  };
  const guide = () => {
    const detail = `The guide is not built: ${howToBuild()} in the service's directory, and start the service again.`;
    if (!template) throw new AppError("not_found", { detail });
    loaded ??= load(template);
    return loaded;
  };

  const send = (ctx: Context, file: BuiltFile, status: 200 | 404 = 200) =>
    sendBuiltFile(ctx, file, { policy: POLICY, caching: CACHING.revalidate, status });

  const page = (path: string): BuiltFile | undefined => {
    const { docs, frame, pages } = guide();
    const read = pages.has(path) ? undefined : docs.read(path);
    if (read) pages.set(path, builtText(".html", frame({ ...read, path, ...(path === INDEX && { title: "Guide" }) })));
    return pages.get(path);
  };

  const show = (ctx: Context, name: string) => {
    const { files, docs, frame } = guide();
    const found = page(name === "" ? INDEX : `${name}.md`) ?? (name.endsWith(".md") ? undefined : files.get(name));
    if (found) return send(ctx, found);
    const plain = name.replace(/(\/|\.html|\.md)$/, "");
    if (plain !== name && docs.has(`${plain}.md`)) return ctx.redirect(home + plain);
    if (!ctx.accepts("html")) throw new AppError("not_found", { detail: `There is no page at ${ctx.path}.` });
    const content = html`<h1>404: there is no such page</h1>
<p>Search for it, or <a href="${home}">see all questions that the guide answers</a>.</p>`;
    send(ctx, builtText(".html", frame({ title: "Not found", content })), 404);
  };
  // A relative address, so that it also holds behind a proxy that serves Signalbox below a path.
  router.get("/guide", (ctx) => ctx.redirect("guide/"));
  router.get("/guide/", (ctx) => show(ctx, ""));
  router.get("/guide/search", async (ctx) => {
    const { docs, frame } = guide();
    const query = String([ctx.query.q ?? ""].flat()[0])
      .trim()
      .slice(0, MAX_QUERY);
    const content = results(query, await docs.search(query), home);
    send(ctx, builtText(".html", frame({ title: "Search", query, content })));
  });
  router.get("/guide/*path", (ctx) => show(ctx, ctx.path.slice("/guide/".length)));
}
