import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type Router from "@koa/router";
import type { Context } from "koa";
import { AppError, ERRORS } from "../shared/errors.ts";
import { DASHBOARD } from "./dashboard.ts";

/** The files of swagger-ui-dist, which the build of the dashboard copies; the pages load nothing from other hosts. */
const ASSETS = ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"] as const;

const VIEWER = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signalbox API reference</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="icon" href="docs/favicon-32x32.png">
</head>
<body>
<div id="viewer">
<p>The build contains the viewer: run <code>npm run build</code>. The description is also the OpenAPI document at <a href="openapi.json">/openapi.json</a>.</p>
</div>
<noscript>This page needs JavaScript.</noscript>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

const START = `SwaggerUIBundle({ url: "openapi.json", dom_id: "#viewer", deepLinking: true, validatorUrl: null });\n`;

/** The page to which the `type` of every error leads, with an anchor for each code. */
const errorPage = (): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signalbox errors</title>
</head>
<body>
<h1>Errors</h1>
<p>Every error response is a JSON object with the media type <code>application/problem+json</code> (RFC 9457).
Programs should read <code>code</code>: codes are added and never renamed. <code>detail</code> describes the problem of
the request for people, and <code>errors</code> lists each invalid field or parameter. See also the
<a href="../guide/reference/errors">guide</a> and the <a href="../docs">API reference</a>.</p>
<dl>
${Object.entries(ERRORS)
  .map(([code, { status, title, retry, fix }]) => {
    const repeat = retry ? "The same request can succeed later." : "The same request fails again.";
    return `<dt id="${code}"><code>${code}</code> (${status})</dt>\n<dd>${title} ${asHtml(fix)} ${repeat}</dd>`;
  })
  .join("\n")}
</dl>
</body>
</html>
`;

/** Replaces `…` by code elements. The texts of the catalogue contain no other markup than this. */
const asHtml = (text: string): string => text.replaceAll("<", "&lt;").replace(/`([^`]+)`/g, "<code>$1</code>");

/** Allows the viewer's scripts and styles, which the default policy forbids. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'";

/** Adds the routes /openapi.json, /docs and /docs/errors. */
export function mountDocs(router: Router, openApi: object): void {
  const send = (ctx: Context, type: string, body: string | Buffer) => {
    ctx.set("Content-Security-Policy", POLICY);
    ctx.type = type;
    ctx.body = body;
  };
  const document = JSON.stringify(openApi);
  router.get("/openapi.json", (ctx) => send(ctx, "application/json", document));
  router.get("/docs", (ctx) => send(ctx, "html", VIEWER));
  router.get("/docs/start.js", (ctx) => send(ctx, "js", START));
  router.get("/docs/errors", (ctx) => send(ctx, "html", errorPage()));
  for (const name of ASSETS) {
    router.get(`/docs/${name}`, async (ctx) => {
      const path = join(DASHBOARD, "docs", name);
      if (!existsSync(path))
        throw new AppError("not_found", { detail: "The viewer is not built: run `npm run build`." });
      ctx.set("Cache-Control", "public, max-age=86400");
      send(ctx, name.slice(name.lastIndexOf(".")), await readFile(path));
    });
  }
}
