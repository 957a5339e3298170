import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";
import { Transform } from "node:stream";

/** A TCP proxy between processes and a server that can delay and cut connections. */
export interface FaultProxy {
  readonly port: number;
  /** Sets the delay of each chunk of data in both directions. */
  delay(ms: number): void;
  /** Cuts all connections, and each new one at once until `restore`. */
  cut(): void;
  restore(): void;
  close(): Promise<void>;
}

export async function startProxy(targetPort: number): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  let delayMs = 0;
  let isCut = false;
  const delayed = () =>
    new Transform({
      transform(chunk, _encoding, pass) {
        if (delayMs === 0) pass(null, chunk);
        else setTimeout(() => pass(null, chunk), delayMs);
      },
    });
  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const upstream = createConnection(targetPort, "127.0.0.1");
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(one);
      one.setNoDelay();
      one.on("error", () => {});
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(delayed()).pipe(other);
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    isCut = true;
    // Not resetAndDestroy: on a socket that is being shut down it prevents Node from exiting.
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    delay: (ms) => {
      delayMs = ms;
    },
    cut,
    restore: () => {
      isCut = false;
      delayMs = 0;
    },
    async close() {
      cut();
      await new Promise((closed) => server.close(closed));
    },
  };
}
