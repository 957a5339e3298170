import { createServer, type RequestListener, type Server, ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import { promisify } from "node:util";
import { StartError } from "../shared/lifecycle.ts";
import { MemoryBudget } from "./middleware/memoryBudget.ts";

export interface HttpServer {
  /** Where it can be reached, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** How many connections are open. */
  connections(): Promise<number>;
  /** Takes no new connection, answers every request under way, then closes what is idle. */
  close(): Promise<void>;
}

/** How long a client may take, in milliseconds. Who takes longer is cut off; without limits a few could hold everything. */
interface ClientLimits {
  /** To send a request's head, also where it sends nothing at all. */
  readonly headMs: number;
  /** To send a request, with its body. */
  readonly requestMs: number;
  /** To take an answer that is ready; streams of events have rules of their own. */
  readonly answerMs: number;
  /** How often heads and requests are looked at. */
  readonly lookEveryMs: number;
}

const LIMITS: ClientLimits = { headMs: 20_000, requestMs: 120_000, answerMs: 120_000, lookEveryMs: 5_000 };

export interface ListenOptions {
  readonly port: number;
  readonly host: string;
  /** From when on each answer is the last on its connection; so it is by the time of `close`. */
  readonly isStopping: () => boolean;
  /** One more is closed at once. */
  readonly maxConnections?: number;
  readonly limits?: ClientLimits;
  /** How long a stopping server keeps idle connections open: a request may be on its way on one of them. */
  readonly idleGraceMs: number;
}

/** @throws StartError when the address cannot be bound */
export async function listen(
  listener: RequestListener,
  { port, host, isStopping, maxConnections, limits = LIMITS, idleGraceMs }: ListenOptions,
): Promise<HttpServer> {
  const untaken = new MemoryBudget();
  /** It is asked for as an answer is begun, so that those under way when the server stops count too. */
  class Answer extends ServerResponse {
    override writeHead(...args: unknown[]): this {
      if (isStopping()) this.setHeader("Connection", "close");
      return super.writeHead(...(args as Parameters<ServerResponse["writeHead"]>));
    }
  }
  const onRequest: RequestListener = (req, res) => {
    res.once("prefinish", () => limitUntaken(res, limits.answerMs, untaken));
    listener(req, res);
  };
  const options = { connectionsCheckingInterval: limits.lookEveryMs, ServerResponse: Answer };
  const server = createServer(options, onRequest);
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  server.on("checkContinue", onRequest); // whoever reads the body says that it may come
  server.requestTimeout = limits.requestMs;
  server.headersTimeout = limits.headMs;
  server.keepAliveTimeout = 65_000; // longer than the idle time-out of common balancers, so that they close first
  // with several processes on the port, the one that shares connections out would look for another for ever
  Object.assign(server, maxConnections === undefined ? {} : { maxConnections, dropMaxConnection: true });
  await bind(server, port, host);
  const bound = server.address() as AddressInfo;
  const shown = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
  return {
    url: `http://${shown}:${bound.port}`,
    connections: promisify(server.getConnections.bind(server)),
    close: () => close(server, open, idleGraceMs),
  };
}

/**
 * Limits how long a finished answer may wait for its client to take it, and counts the bytes that wait in memory: those
 * that the system's own buffers have no room for.
 */
function limitUntaken(res: ServerResponse, withinMs: number, untaken: MemoryBudget): void {
  if (!res.socket?.writableLength) return;
  const release = untaken.reserve(res, res.socket.writableLength);
  const timer = setTimeout(() => res.destroy(), withinMs).unref();
  res.once("close", () => {
    clearTimeout(timer);
    release();
  });
}

function bind(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(new StartError(explain(error, port, host))));
    server.listen(port, host, resolve);
  });
}

function explain({ code }: NodeJS.ErrnoException, port: number, host: string): string {
  if (code === "EADDRINUSE")
    return `Port ${port} on ${host} is taken: stop the program that uses it, or set PORT to another (server.port).`;
  if (code === "EACCES")
    return `Port ${port} on ${host} may not be used by this user: set PORT to one above 1023 (server.port).`;
  return `The address ${host}:${port} cannot be bound (${code}): correct HOST (server.host).`;
}

/** Resolves when every connection is closed. @param open the connections, of which some may not have sent anything */
async function close(server: Server, open: ReadonlySet<Socket>, idleGraceMs: number): Promise<void> {
  // http's own close() would also cut idle connections at once.
  const closed = new Promise<void>((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
  const timer = setInterval(() => {
    server.closeIdleConnections();
    // Node takes a connection without a request for a busy one; browsers open some ahead of time.
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  }, idleGraceMs);
  await closed;
  clearInterval(timer);
}
