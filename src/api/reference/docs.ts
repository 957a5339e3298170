import type Router from "@koa/router";
import { type BuiltFile, builtText, CACHING, sendBuiltFile } from "../pages/builtFiles.ts";
import type { OpenApi } from "./document.ts";

/**
 * Adds the routes /openapi.json, /docs and /docs/errors. Each of them is rendered at its first request.
 * @param describe creates the document, which takes most of the time of a start; called once, for the first request
 */
export function mountDocs(router: Router, describe: () => OpenApi): void {
  let document: OpenApi | undefined;
  const openApi = () => {
    document ??= describe();
    return document;
  };
  const add = (path: string, type: string, render: () => string | Promise<string>) => {
    let rendered: Promise<{ file: BuiltFile; policy: string }> | undefined;
    const prepare = async () => {
      const { POLICY: policy } = await import("./layout.ts");
      return { file: builtText(type, await render()), policy };
    };
    router.get(path, async (ctx) => {
      rendered ??= prepare();
      const { file, policy } = await rendered;
      sendBuiltFile(ctx, file, { policy, caching: CACHING.revalidate });
    });
  };
  add("/openapi.json", ".json", () => `${JSON.stringify(openApi())}\n`);
  add("/docs", ".html", async () => (await import("./page.ts")).referencePage(openApi()));
  add("/docs/errors", ".html", async () => (await import("./errorsPage.ts")).errorsPage());
}
