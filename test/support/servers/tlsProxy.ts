import { readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { type Agent, createServer, request as httpsRequest, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { CERTIFICATE } from "./tlsRedis.ts";

const PEM = readFileSync(CERTIFICATE);

/**
 * Sends everything to the port, as the router of a host does, and says in a header where the request came from. Closes its
 * connection to the port when its client leaves.
 */
export function startTlsProxy(port: number): Promise<Server> {
  const proxy = createServer({ key: PEM, cert: PEM }, (req, res) => {
    const headers = { ...req.headers, "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": "https" };
    const options = { host: "127.0.0.1", port, path: req.url, method: req.method, headers };
    const passed = httpRequest(options, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    passed.on("error", () => res.writeHead(502).end());
    res.once("close", () => passed.destroy());
    req.pipe(passed);
  });
  return new Promise((started) => proxy.listen(0, "127.0.0.1", () => started(proxy)));
}

export interface ProxyAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/**
 * Sends a request through the proxy, on a connection of its own unless an agent is given.
 * @param signal makes the client leave
 */
export function callThrough(
  proxy: Server,
  path: string,
  {
    method = "GET",
    body,
    headers = {},
    agent,
    signal,
  }: {
    method?: string;
    body?: object | undefined;
    headers?: Record<string, string>;
    agent?: Agent;
    signal?: AbortSignal;
  } = {},
): Promise<ProxyAnswer> {
  const { port } = proxy.address() as AddressInfo;
  const all = { "Content-Type": "application/json", ...(!agent && { Connection: "close" }), ...headers };
  return new Promise((answered, failed) => {
    const options = { host: "127.0.0.1", port, path, method, headers: all, ca: PEM, agent, ...(signal && { signal }) };
    const sent = httpsRequest(options, async (answer) => {
      let text = "";
      for await (const chunk of answer.setEncoding("utf8")) text += chunk;
      answered({ status: answer.statusCode ?? 0, headers: answer.headers, text });
    });
    sent.on("error", failed);
    sent.end(body && JSON.stringify(body));
  });
}
