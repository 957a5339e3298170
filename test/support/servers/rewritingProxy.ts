import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";

export interface RewritingProxy {
  readonly port: number;
  close(): void;
}

/**
 * Starts a TCP proxy to a local server that changes what the server answers, such as its version.
 * @param rewrite receives and returns a Latin-1 text of the same length
 */
export async function startRewritingProxy(port: number, rewrite: (text: string) => string): Promise<RewritingProxy> {
  const server = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    client.pipe(upstream);
    upstream.on("data", (chunk: Buffer) => client.write(rewrite(chunk.toString("latin1")), "latin1"));
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.on("error", () => {}).on("close", () => other.destroy());
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}
