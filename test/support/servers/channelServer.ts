import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A request that the server received. */
interface ChannelRequest {
  readonly method: string;
  /** The path with its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed JSON or form fields; undefined for any other body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  readonly body: any;
  /** Whether the connection was closed before the response was complete. */
  cancelled: boolean;
}

/** Responds to one request. */
export type Behaviour = (response: ServerResponse, request: ChannelRequest) => unknown;

export interface ChannelServer {
  /** The base URL without a trailing slash. */
  readonly url: string;
  readonly requests: ChannelRequest[];
  /**
   * Sets the behaviours of the next requests, one each, and clears the recorded requests. Later requests get the usual
   * one.
   */
  script(...behaviours: Behaviour[]): void;
  close(): Promise<void>;
}

/** Starts a server that replaces a real service: it records requests, and responds as scripted or else with `usual`. */
export async function startChannelServer(usual: Behaviour = answers(200, {})): Promise<ChannelServer> {
  const requests: ChannelRequest[] = [];
  let scripted: Behaviour[] = [];
  const server = createServer(async (incoming, response) => {
    const behave = scripted.shift() ?? usual;
    if (behave === drops) return void incoming.destroy();
    const { method = "", url = "", headers } = incoming;
    const sent = await text(incoming);
    const body = parse(sent, headers["content-type"]);
    const request: ChannelRequest = { method, path: url, headers, text: sent, body, cancelled: false };
    response.once("close", () => {
      request.cancelled = !response.writableFinished;
    });
    requests.push(request);
    await behave(response, request);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    script(...behaviours) {
      requests.length = 0;
      scripted = behaviours;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/**
 * Responds with a status, a JSON object or a text, and headers, as in `answers(429, { … }, { "Retry-After": "7" })`.
 */
export const answers =
  (status: number, body: unknown = "", headers: Record<string, string> = {}): Behaviour =>
  (response) => {
    const type = typeof body === "string" ? "text/html" : "application/json";
    response.writeHead(status, { "Content-Type": type, ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };

/** Reads the request and never responds; the client or `close` ends the connection. */
export const hangs: Behaviour = () => {};

/** Reads the whole request and breaks the connection without a response. */
export const breaks: Behaviour = (response) => void response.destroy();

/** Responds with a status and headers, and breaks the connection in the middle of the body. */
export const breaksWithin =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (response) => {
    response.writeHead(status, { "Content-Type": "application/json", "Content-Length": "1000", ...headers });
    response.write('{"ok":', () => response.destroy());
  };

/** Starts a successful response and breaks the connection in the middle of its body. */
export const breaksMidway = breaksWithin(200);

/** Breaks the connection before it reads the body; the request is not recorded. */
export const drops: Behaviour = (response) => void response.destroy();

function parse(sent: string, type = ""): unknown {
  if (type.startsWith("application/x-www-form-urlencoded")) return Object.fromEntries(new URLSearchParams(sent));
  try {
    return JSON.parse(sent);
  } catch {
    return undefined;
  }
}
