import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

interface Seen {
  readonly method: string;
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
}

/** Responds in place of the service; an unhandled request is forwarded. */
interface Instead {
  readonly status: number;
  readonly headers?: Record<string, string>;
}

/** Handles a request before the service receives it. */
export type Meet = (request: Seen) => Promise<Instead | undefined> | Instead | undefined;

export interface Relay {
  readonly url: string;
  /** The forwarded requests in their order. */
  readonly passed: Seen[];
  close(): Promise<void>;
}

/** Starts a relay between a program and the service that records requests and can hold or reject them. */
export async function startRelay(target: string, meet: Meet = () => undefined): Promise<Relay> {
  const passed: Seen[] = [];
  const server = createServer((req, res) => void relay(req, res, target, meet, passed));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function relay(req: IncomingMessage, res: ServerResponse, target: string, meet: Meet, passed: Seen[]) {
  const { method = "", url = "" } = req;
  const sent = await text(req);
  const seen: Seen = { method, path: url, body: sent ? JSON.parse(sent) : undefined };
  const instead = await meet(seen);
  if (instead) {
    res.writeHead(instead.status, instead.headers).end();
    return;
  }
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(target + url, { method, headers, ...(sent && { body: sent }) });
  passed.push(seen);
  res.writeHead(answer.status, { "Content-Type": answer.headers.get("Content-Type") ?? "" });
  res.end(await answer.text());
}
