/** A process with hostile clients. Runs one attack at a time until it receives "stop". */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type Attack, type AttackName, attacks } from "./attacks.ts";

export interface AttackTask {
  readonly url: string;
  readonly attack: AttackName;
  readonly connections: number;
}

export interface AttackEnd {
  /** Number of connections that the service closed. */
  readonly cutOff: number;
}

let stop: () => AttackEnd = () => ({ cutOff: 0 });

async function begin({ url, attack: name, connections }: AttackTask): Promise<void> {
  const { hostname, port } = new URL(url);
  const { first, drip, deaf, againAfterMs }: Attack = attacks[name];
  const sockets = new Set<Socket>();
  let isOver = false;
  let cutOff = 0;
  const firstCut = Promise.withResolvers<void>();
  const open = async () => {
    const socket = connect(Number(port), hostname);
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => {
      sockets.delete(socket);
      if (isOver) return;
      cutOff++;
      firstCut.resolve();
      if (againAfterMs !== undefined) setTimeout(() => isOver || void open(), againAfterMs);
    });
    if (!deaf) socket.resume();
    await once(socket, "connect").catch(() => {});
    if (first) await new Promise((sent) => socket.write(first, sent));
  };
  for (let opened = 0; opened < connections; opened += CONCURRENCY) {
    await Promise.all(Array.from({ length: Math.min(CONCURRENCY, connections - opened) }, open));
  }
  if (againAfterMs !== undefined) await firstCut.promise;
  const dripping = setInterval(() => {
    if (drip) for (const socket of sockets) socket.write(drip);
  }, 1_000);
  stop = () => {
    isOver = true;
    clearInterval(dripping);
    for (const socket of sockets) socket.destroy();
    return { cutOff };
  };
}

/** Number of connections to open at once: fewer than the backlog of a listening socket. */
const CONCURRENCY = 100;

process.on("message", async (task: AttackTask | "stop") => {
  if (task === "stop") process.send?.(stop());
  else await begin(task).then(() => process.send?.({ begun: true }));
});
process.on("disconnect", () => process.exit());
process.send?.({ ready: true });
