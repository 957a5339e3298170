import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** What the server was sent. */
interface ChannelRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The text as JSON, or as an object of a form's fields; undefined where it is neither. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  readonly body: any;
  /** Whether the connection was closed before the answer was complete. */
  cancelled: boolean;
}

/** How one request is answered. */
export type Behaviour = (response: ServerResponse, request: ChannelRequest) => unknown;

export interface ChannelServer {
  /** Without a slash at its end. */
  readonly url: string;
  readonly requests: ChannelRequest[];
  /** What becomes of the next requests, one behaviour each; those after them are answered as usual. Forgets what came before. */
  script(...behaviours: Behaviour[]): void;
  close(): Promise<void>;
}

/** A server that stands for a service: records what it is sent, and answers as scripted, or else with `usual`. */
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

/** A status, an object as JSON or a text as it is, and headers, such as `answers(429, { … }, { "Retry-After": "7" })`. */
export const answers =
  (status: number, body: unknown = "", headers: Record<string, string> = {}): Behaviour =>
  (response) => {
    const type = typeof body === "string" ? "text/html" : "application/json";
    response.writeHead(status, { "Content-Type": type, ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };

/** Has the request and never answers; the client, or `close`, ends it. */
export const hangs: Behaviour = () => {};

/** Has the whole request, and breaks the connection instead of answering. */
export const breaks: Behaviour = (response) => void response.destroy();

/** Answers with this status and these headers, and breaks the connection in the middle of the body. */
export const breaksWithin =
  (status: number, headers: Record<string, string> = {}): Behaviour =>
  (response) => {
    response.writeHead(status, { "Content-Type": "application/json", "Content-Length": "1000", ...headers });
    response.write('{"ok":', () => response.destroy());
  };

/** Begins to answer that all is well, and breaks the connection in the middle. */
export const breaksMidway = breaksWithin(200);

/** Breaks the connection before it has read the body; such a request is not recorded. */
export const drops: Behaviour = (response) => void response.destroy();

function parse(sent: string, type = ""): unknown {
  if (type.startsWith("application/x-www-form-urlencoded")) return Object.fromEntries(new URLSearchParams(sent));
  try {
    return JSON.parse(sent);
  } catch {
    return undefined;
  }
}
