import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Socket } from "node:net";

const WRITES: readonly string[] = ["insert", "update", "delete", "findAndModify"];

export interface MongoProxy {
  readonly uri: string;
  /** Blocks all connections in both directions. */
  freeze(): void;
  close(): Promise<void>;
}

/**
 * Starts a proxy between a process and MongoDB. With `hold`, the write with the number `at` is held before MongoDB
 * receives it, or after MongoDB has executed it and before its response; then `onHeld` is called and that connection is
 * blocked.
 */
export async function startMongoProxy(
  target: string,
  hold?: { at: number; when: "request" | "answer"; onHeld: () => void },
): Promise<MongoProxy> {
  const { host, port, pathname } = new URL(target.replace(/^mongodb:/, "http:").replace(/,[^/]*/, ""));
  const hostname = host.replace(/:\d+$/, "");
  const sockets = new Set<Socket>();
  let count = 0;
  let isFrozen = false;
  const server = createServer((client) => {
    const upstream = createConnection(Number(port), hostname);
    let held: "request" | "answer" | undefined;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        client.destroy();
        upstream.destroy();
        sockets.delete(socket);
      });
    }
    eachMessage(client, (message) => {
      if (isFrozen) return;
      if (hold && WRITES.includes(commandOf(message)) && ++count === hold.at) held = hold.when;
      if (held === "request") return hold?.onHeld();
      upstream.write(message);
    });
    eachMessage(upstream, (message) => {
      if (isFrozen) return;
      if (held === undefined) client.write(message);
      else if (held === "answer") hold?.onHeld();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port: own } = server.address() as AddressInfo;
  return {
    uri: `mongodb://127.0.0.1:${own}${pathname}?directConnection=true`,
    freeze() {
      isFrozen = true;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Calls `act` for each message of MongoDB's wire protocol, which starts with its length. */
function eachMessage(socket: Socket, act: (message: Buffer) => void): void {
  let rest: Buffer = Buffer.alloc(0);
  socket.on("data", (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 4 && rest.length >= rest.readInt32LE(0)) {
      const length = rest.readInt32LE(0);
      act(rest.subarray(0, length));
      rest = rest.subarray(length);
    }
  });
}

/** Returns the name of the first field of an OP_MSG's document, which is the command, or "" for other messages. */
function commandOf(message: Buffer): string {
  const [OP_MSG, OP_CODE, NAME] = [2013, 12, 26];
  if (message.readInt32LE(OP_CODE) !== OP_MSG) return "";
  return message.toString("latin1", NAME, message.indexOf(0, NAME));
}
