import { ServerResponse } from "node:http";
import type { Context, Middleware } from "koa";
import { firstContent } from "../../dashboard/firstContent.ts";
import { FIRST_READS } from "../../dashboard/firstReads.ts";
import type { Path } from "../../dashboard/paths.ts";
import { LOGIN_PATH } from "../auth/apiAuth.ts";

/** Maximum length of an answer in the document. A longer one would delay what the page shows first. */
const MAX_CHARS = 200_000;

/** Headers of the request for the document that are not meant for the API. */
const OF_THE_DOCUMENT = ["if-none-match", "prefer"];

/** The first reads of a page of the dashboard over the API, and the content that its document shows until the script has loaded. */
export interface FirstAnswers {
  /** `{"session":{…},"jobs":{…}}` */
  readonly json: string;
  readonly content: string;
}

/**
 * Returns what a page of the dashboard reads first over the API, for its document. Each answer is that of the API to the same
 * browser.
 * @param api the layers that authenticate and answer requests to the API
 * @returns null for other pages, and for a browser that has to log in
 */
export async function firstAnswers(
  ctx: Context,
  path: Path,
  api: Middleware,
  basePath: string,
): Promise<FirstAnswers | null> {
  const reads = FIRST_READS[path];
  if (!reads || ctx.method !== "GET" || (path === "/" && ctx.querystring !== "")) return null;
  const session = await answerOf(ctx, LOGIN_PATH, api);
  if (session === null || JSON.parse(session).access === null) return null;
  const segment = ctx.path.split("/").at(-1) ?? "";
  const others = Object.entries(reads).map(async ([name, address]) => {
    const url = address.replace(/:\w+/, () => segment);
    return [name, await answerOf(ctx, url, api)] as const;
  });
  const found = (await Promise.all(others)).filter(([, answer]) => answer !== null && answer.length <= MAX_CHARS);
  const fields = [["session", session] as const, ...found].map(([name, answer]) => `"${name}":${answer}`);
  const json = `{${fields}}`.replaceAll("<", "\\u003c"); // No text ends the element in which the answers stand.
  return { json, content: firstContent(JSON.parse(json), basePath).text };
}

/** Returns the JSON with which the API answers a GET request of the same browser; null for an error. */
async function answerOf(ctx: Context, url: string, api: Middleware): Promise<string | null> {
  const headers = Object.fromEntries(Object.entries(ctx.headers).filter(([name]) => !OF_THE_DOCUMENT.includes(name)));
  const req = Object.create(ctx.req, { url: { value: url, writable: true }, headers: { value: headers } });
  const res = new ServerResponse(req);
  const inner = ctx.app.createContext(req, res);
  Object.assign(inner.state, ctx.state);
  try {
    await api(inner, async () => {});
    return inner.status === 200 ? String(inner.body) : null;
  } catch {
    return null; // The page sends the request itself, and shows the error.
  } finally {
    res.emit("close"); // releases the memory that a large answer has reserved
  }
}
