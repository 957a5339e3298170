import { createServer, type IncomingMessage, type RequestListener, type Server, ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer, type Socket } from "node:net";
import { promisify } from "node:util";
import { StartError } from "../shared/process/lifecycle.ts";
import { MemoryBudget } from "./middleware/memoryBudget.ts";

export interface HttpServer {
  /** The address that the server listens on, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Returns the number of open connections. */
  connections(): Promise<number>;
  /** Stops accepting connections, finishes the requests in flight and closes idle connections. */
  close(): Promise<void>;
}

/** Time limits for clients, after which the server closes their connections. Without them, a few could occupy all resources. */
interface ClientLimits {
  /** To send the head of a request; also applies to a connection without any data. */
  readonly headMs: number;
  /** To send a whole request with its body. */
  readonly requestMs: number;
  /** To receive a finished response; event streams have limits of their own. */
  readonly responseMs: number;
  /** Interval at which the server checks heads and requests. */
  readonly checkIntervalMs: number;
}

const LIMITS: ClientLimits = { headMs: 20_000, requestMs: 120_000, responseMs: 120_000, checkIntervalMs: 5_000 };

/** Maximum requests that wait on one connection. Clients hardly ever send a request before they have the response to another. */
const MAX_PIPELINED = 100;

export interface ListenOptions {
  readonly port: number;
  readonly host: string;
  /** While it returns true, each response closes its connection. Must be true before `close` is called. */
  readonly isStopping: () => boolean;
  /** Maximum open connections; the server closes further ones at once. */
  readonly maxConnections?: number;
  readonly limits?: ClientLimits;
  /** How long a stopping server keeps idle connections open: a client may already have sent a request on one. */
  readonly idleGraceMs: number;
}

/** Starts an HTTP server. @throws StartError when the address cannot be bound */
export async function listen(
  listener: RequestListener,
  { port, host, isStopping, maxConnections, limits = LIMITS, idleGraceMs }: ListenOptions,
): Promise<HttpServer> {
  const unsent = new MemoryBudget();
  /** Checks `isStopping` when the head is written, so that requests in flight at the shutdown close their connections too. */
  class Response extends ServerResponse {
    override writeHead(...args: unknown[]): this {
      if (isStopping()) this.setHeader("Connection", "close");
      return super.writeHead(...(args as Parameters<ServerResponse["writeHead"]>));
    }
  }
  const onRequest = inTurn((req, res) => {
    res.once("prefinish", () => limitUnsentResponse(res, limits.responseMs, unsent));
    listener(req, res);
  });
  const options = { connectionsCheckingInterval: limits.checkIntervalMs, ServerResponse: Response };
  const server = createServer(options, onRequest);
  const open = new Set<Socket>();
  server.on("connection", (socket) => {
    open.add(socket);
    socket.once("close", () => open.delete(socket));
  });
  server.on("checkContinue", onRequest); // the reader of the body sends 100 Continue
  server.requestTimeout = limits.requestMs;
  server.headersTimeout = limits.headMs;
  server.keepAliveTimeout = 65_000; // longer than the idle time-out of common load balancers, so that they close first
  // without dropMaxConnection, the primary process of a cluster would offer the connection to its workers for ever
  Object.assign(server, maxConnections === undefined ? {} : { maxConnections, dropMaxConnection: true });
  await bind(server, port, host);
  const bound = server.address() as AddressInfo;
  const hostname = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
  return {
    url: `http://${hostname}:${bound.port}`,
    connections: promisify(server.getConnections.bind(server)),
    close: () => close(server, open, idleGraceMs),
  };
}

/**
 * Returns a listener that answers the requests of one connection one after the other. Node would start them all at once, and a
 * client that reads nothing would fill the memory with responses over one connection.
 */
function inTurn(listener: RequestListener): RequestListener {
  /** The requests that wait on each connection with a request in flight. */
  const waiting = new WeakMap<Socket, [IncomingMessage, ServerResponse][]>();
  const answer = (req: IncomingMessage, res: ServerResponse): void => {
    const { socket } = req;
    res.once("close", () => {
      const next = socket.destroyed ? undefined : waiting.get(socket)?.shift();
      if (next) answer(...next);
      else waiting.delete(socket);
    });
    listener(req, res);
  };
  return (req, res) => {
    const { socket } = req;
    const queue = waiting.get(socket);
    if (queue === undefined) {
      waiting.set(socket, []);
      answer(req, res);
    } else if (queue.push([req, res]) > MAX_PIPELINED) socket.destroy();
  };
}

/**
 * Limits how long the bytes of a finished response may wait in memory for a slow client. Counts only bytes that the
 * system's socket buffers have no room for.
 */
function limitUnsentResponse(res: ServerResponse, timeoutMs: number, unsent: MemoryBudget): void {
  if (!res.socket?.writableLength) return;
  const release = unsent.reserve(res, res.socket.writableLength);
  const timer = setTimeout(() => res.destroy(), timeoutMs).unref();
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

/** Resolves when every connection is closed. @param open all connections, including those without any data yet */
async function close(server: Server, open: ReadonlySet<Socket>, idleGraceMs: number): Promise<void> {
  // close() of the HTTP server would close idle connections at once
  const closed = new Promise<void>((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
  const timer = setInterval(() => {
    server.closeIdleConnections();
    // Node does not count a connection without a first request as idle; browsers open such connections in advance.
    for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
  }, idleGraceMs);
  await closed;
  clearInterval(timer);
  server.close(); // It is closed already; this ends the interval of its checks, which would keep the whole app in memory.
}
