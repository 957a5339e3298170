import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import helmet, { type HelmetOptions } from "helmet";
import type { Middleware } from "koa";
import { pathOf } from "./requests.ts";

const PAGE_HEADERS = {
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  strictTransportSecurity: false, // whoever ends TLS in front knows whether it is for good
};

/** Without those that only say something of a document that a browser shows: each costs every answer. */
const DATA_HEADERS = {
  ...PAGE_HEADERS,
  ...{ crossOriginOpenerPolicy: false, originAgentCluster: false, xDnsPrefetchControl: false },
  ...{ xDownloadOptions: false, xPermittedCrossDomainPolicies: false, xXssProtection: false },
};

/** Tells browsers to be careful with answers. @param isOfData whether data alone are answered at this path */
export function careful(isOfData: (path: string) => boolean): Middleware {
  const [ofPages, ofData] = [headersOf(PAGE_HEADERS), headersOf(DATA_HEADERS)];
  return (ctx, next) => {
    const path = pathOf(ctx);
    for (const [name, value] of path && isOfData(path) ? ofData : ofPages) ctx.res.setHeader(name, value);
    return next();
  };
}

/** What helmet sets with these options; it is the same for every answer. */
function headersOf(options: HelmetOptions): [name: string, value: string][] {
  const headers: [string, string][] = [];
  const request = new IncomingMessage(new Socket());
  const answer = new ServerResponse(request);
  answer.setHeader = (name, value) => {
    headers.push([name, String(value)]);
    return answer;
  };
  helmet(options)(request, answer, (error) => {
    if (error) throw error;
  });
  return headers;
}
