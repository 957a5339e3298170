import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import type Router from "@koa/router";
import type { Context } from "koa";
import { PATHS } from "../dashboard/paths.ts";
import { AppError } from "../shared/errors.ts";

/** The output directory of `npm run build:dashboard`. */
export const DASHBOARD = join(import.meta.dirname, "..", "..", "dist", "dashboard");

/** Returns whether the dashboard has been built. */
export const isBuilt = (directory: string): boolean => existsSync(join(directory, "index.html"));

/** Forbids inline code and resources of other hosts. */
const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'"],
  ...["font-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"],
].join("; ");

const UNBUILT = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Signalbox</title>
</head>
<body>
<h1>The dashboard is not built</h1>
<p>Run <code>npm run build</code> in the service's directory and start the service again.
The API works all the same: see <a href="/docs">its documentation</a>.</p>
</body>
</html>
`;

/** The suffixes of the files that the build has compressed, preferred encoding first. */
const ENCODINGS = { br: ".br", gzip: ".gz" } as const;

interface BuiltFile {
  readonly type: string;
  readonly etag: string;
  readonly bodies: Readonly<Record<string, Buffer>>;
}

/**
 * Adds the dashboard's routes: its document at every path of the page's router, its files under /assets. Reads the files
 * once, so that a later build never mixes with the one that is served.
 * @param directory the build; without one, the paths answer 503 with instructions to build it
 */
export function mountDashboard(router: Router, directory: string): void {
  const document = isBuilt(directory) && readBuilt(join(directory, "index.html"));
  const show = (ctx: Context) => {
    if (document) return send(ctx, document, "no-cache");
    ctx.status = 503;
    ctx.type = "html";
    ctx.body = UNBUILT;
  };
  for (const path of PATHS) router.get(path, show);
  const assets = document ? readAssets(join(directory, "assets")) : new Map<string, BuiltFile>();
  router.get("/assets/:name", (ctx) => {
    const file = assets.get(ctx.params.name ?? "");
    if (!file) throw new AppError("not_found", { detail: `There is nothing at ${ctx.path}: load the page again.` });
    send(ctx, file, "public, max-age=31536000, immutable"); // the name contains a hash of the content
  });
}

function readAssets(directory: string): Map<string, BuiltFile> {
  const compressed = new Set<string>(Object.values(ENCODINGS));
  const names = readdirSync(directory).filter((name) => !compressed.has(extname(name)));
  return new Map(names.map((name) => [name, readBuilt(join(directory, name))]));
}

function readBuilt(path: string): BuiltFile {
  const identity = readFileSync(path);
  const bodies: Record<string, Buffer> = {};
  for (const [encoding, suffix] of Object.entries(ENCODINGS)) {
    if (existsSync(path + suffix)) bodies[encoding] = readFileSync(path + suffix);
  }
  // a weak tag, because it is the same for all encodings
  const etag = `W/"${hash("sha256", identity, "base64url").slice(0, 22)}"`;
  return { type: extname(path), etag, bodies: { ...bodies, identity } };
}

function send(ctx: Context, { type, etag, bodies }: BuiltFile, caching: string): void {
  ctx.set({ "Content-Security-Policy": POLICY, "Cache-Control": caching, ETag: etag });
  ctx.vary("Accept-Encoding");
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  const encoding = Object.keys(bodies).find((one) => ctx.acceptsEncodings(one)) ?? "identity";
  if (encoding !== "identity") ctx.set("Content-Encoding", encoding);
  ctx.type = type;
  ctx.body = bodies[encoding];
}
