import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A TCP relay between clients and a server, which can cut them off. */
export class Relay {
  #to: URL;
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;
  #held: (() => void) | undefined;
  #connections = 0;

  private constructor(to: URL) {
    this.#to = to;
  }

  static async to(url: string): Promise<Relay> {
    const relay = new Relay(new URL(url));
    await relay.listen();
    return relay;
  }

  get url(): string {
    return `${this.#to.protocol}//127.0.0.1:${this.#port}`;
  }

  /** The number of connections so far. */
  get connections(): number {
    return this.#connections;
  }

  /** Connects later clients to another server. Existing connections stay where they are. */
  redirect(url: string): void {
    this.#to = new URL(url);
  }

  /** Listens at the same port as before. */
  async listen(): Promise<void> {
    const server = createServer((client) => this.#accept(client)).listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  #accept(client: Socket): void {
    this.#connections++;
    this.#track(client);
    if (this.#held) {
      this.#held();
      return;
    }
    const upstream = connect(Number(this.#to.port), this.#to.hostname);
    this.#track(upstream);
    client.pipe(upstream);
    upstream.pipe(client);
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => {}).on("close", () => this.#sockets.delete(socket));
  }

  /** Stops forwarding new connections. Resolves with the first of them. */
  hold(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = resolve;
    return promise;
  }

  /** Ends hold() and closes all connections, so that clients reconnect. */
  release(): void {
    this.#held = undefined;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Refuses new connections and closes all others. */
  async close(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
