import type Router from "@koa/router";
import { html } from "../../shared/text/html.ts";
import { originOf } from "../auth/caller.ts";
import { type BuiltFile, builtText, CACHING, replaceInFile, sendBuiltFile } from "../pages/builtFiles.ts";
import { type OpenApi, SERVICE_URL } from "./document.ts";

/**
 * Adds the routes /openapi.json, /docs and /docs/errors. Each of them is rendered at its first request.
 * @param describe creates the document, which takes most of the time of a start; called once, for the first request
 * @param publicUrl the address of the service for clients; the one of each request by default, followed by `basePath`
 */
export function mountDocs(
  router: Router,
  describe: () => OpenApi,
  { publicUrl, basePath = "" }: { readonly publicUrl?: string | undefined; readonly basePath?: string } = {},
): void {
  let document: OpenApi | undefined;
  const openApi = () => {
    document ??= describe();
    return document;
  };
  const add = (path: string, type: string, render: () => string | Promise<string>) => {
    let rendered: Promise<{ file: BuiltFile; policy: string }> | undefined;
    let latest: { url: string; file: BuiltFile } | undefined;
    const prepare = async () => {
      const { POLICY: policy } = await import("./layout.ts");
      return { file: builtText(type, await render()), policy };
    };
    router.get(path, async (ctx) => {
      rendered ??= prepare();
      const { file, policy } = await rendered;
      const url = publicUrl ?? originOf(ctx).origin + basePath;
      // Nearly all requests come by one address, whose page is made once.
      if (latest?.url !== url) latest = { url, file: replaceInFile(file, SERVICE_URL, html`${url}`.text) };
      sendBuiltFile(ctx, latest.file, { policy, caching: CACHING.revalidate });
    });
  };
  add("/openapi.json", ".json", () => `${JSON.stringify(openApi())}\n`);
  add("/docs", ".html", async () => (await import("./page.ts")).referencePage(openApi()));
  add("/docs/errors", ".html", async () => (await import("./errorsPage.ts")).errorsPage());
}
