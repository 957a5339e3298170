import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import type { Service } from "../../support/process.ts";

const RESTART_AFTER_MS = 300;

/** A process that is restarted whenever it exits, as a Procfile supervisor does. */
export interface Supervised {
  readonly name: string;
  /** Resolves with the first start; rejects if the process exits before it is ready. */
  readonly isReady: Promise<unknown>;
  /** Kills it with SIGKILL. */
  kill(): void;
  signal(signal: NodeJS.Signals): void;
  /** Shifts its clock, until the shift is set to 0 or the process exits. */
  setClock(aheadMs: number): void;
  /** Returns its heap and external memory after a garbage collection. */
  heldBytes(): Promise<number>;
  /** Stops it without a restart. */
  close(): Promise<void>;
}

/** @param onCrash called when a ready process exits by itself, which no fault of a server may cause */
export function supervise(name: string, start: () => Service, onCrash: (message: string) => void): Supervised {
  let isClosing = false;
  let service = start();
  const killed = new Set<Service>();
  const superviseLoop = async () => {
    for (;;) {
      const current = service;
      const wasReady = await current.ready.then(
        () => true,
        () => false, // Its servers are down, and it has logged that.
      );
      const how = await current.ended;
      if (isClosing) return;
      if (wasReady && !killed.has(current)) {
        onCrash(`${name} exited by itself with ${how}: ${current.output().stderr.slice(-2_000)}`);
      }
      await pause(RESTART_AFTER_MS);
      if (isClosing) return;
      service = start();
    }
  };
  const isReady = service.ready;
  const ended = superviseLoop();
  return {
    name,
    isReady,
    kill() {
      killed.add(service);
      service.child.kill("SIGKILL");
    },
    signal: (signal) => void service.child.kill(signal),
    setClock(clockMs) {
      if (service.child.connected) service.child.send({ clockMs }, () => {}); // It may exit at the same time.
    },
    async heldBytes() {
      service.child.send({ collect: true });
      const [{ heldBytes }] = await once(service.child, "message");
      return heldBytes;
    },
    async close() {
      isClosing = true;
      service.child.kill("SIGKILL");
      await ended;
    },
  };
}
