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
<title>Signalbox API</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="icon" href="docs/favicon-32x32.png">
</head>
<body>
<div id="viewer">
<p><a href="openapi.json">openapi.json</a> describes the API. <code>npm run build</code> builds the viewer that shows it here.</p>
</div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`;

const START = `SwaggerUIBundle({ url: "openapi.json", dom_id: "#viewer", deepLinking: true, validatorUrl: null });\n`;

const errorPage = (): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signalbox errors</title>
</head>
<body>
<h1>Error codes</h1>
<dl>
${Object.entries(ERRORS)
  .map(([code, { status, title, retry }]) => {
    const advice = retry ? "Try again later." : "Correct the request.";
    return `<dt id="${code}"><code>${code}</code> (${status})</dt><dd>${title} ${advice}</dd>`;
  })
  .join("\n")}
</dl>
</body>
</html>
`;

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
