import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, Server as NetServer } from "node:net";
import { StartError } from "../shared/lifecycle.ts";

export interface HttpServer {
  /** Where it can be reached, such as `http://127.0.0.1:3000`. */
  readonly url: string;
  /** Takes no new connection, answers every request under way, then closes what is idle. */
  close(): Promise<void>;
}

/** How long a stopping server lets idle connections live: a request may be on its way on one of them. */
const IDLE_GRACE_MS = 500;

/** @throws StartError when the address cannot be bound */
export async function listen(
  listener: RequestListener,
  { port, host, isStopping }: { port: number; host: string; isStopping: () => boolean },
): Promise<HttpServer> {
  const underWay = new Set<ServerResponse>();
  const onRequest: RequestListener = (req, res) => {
    if (isStopping()) res.setHeader("Connection", "close");
    underWay.add(res);
    res.once("close", () => underWay.delete(res));
    listener(req, res);
  };
  const server = createServer(onRequest);
  server.on("checkContinue", onRequest); // whoever reads the body says that it may come
  server.requestTimeout = 120_000;
  server.headersTimeout = 30_000;
  server.keepAliveTimeout = 65_000; // longer than the idle time-out of common balancers, so that they close first
  await bind(server, port, host);
  const bound = server.address() as AddressInfo;
  const shown = bound.family === "IPv6" ? `[${bound.address}]` : bound.address;
  return { url: `http://${shown}:${bound.port}`, close: () => close(server, underWay) };
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

async function close(server: Server, underWay: ReadonlySet<ServerResponse>): Promise<void> {
  for (const res of underWay) if (!res.headersSent) res.setHeader("Connection", "close");
  // http's own close() would also cut idle connections at once.
  const closed = new Promise<void>((resolve) => void NetServer.prototype.close.call(server, () => resolve()));
  const timer = setInterval(() => server.closeIdleConnections(), IDLE_GRACE_MS);
  await closed;
  clearInterval(timer);
}
