import { setTimeout as pause } from "node:timers/promises";
import type { Service } from "../support/process.ts";

const AGAIN_AFTER_MS = 300;

/** A process that is started again whenever it ends, as a supervisor of a Procfile does. */
export interface Supervised {
  readonly name: string;
  /** The first start; rejects when it ended before it was ready. */
  readonly isReady: Promise<unknown>;
  /** Kills it as `kill -9` does. */
  kill(): void;
  signal(signal: NodeJS.Signals): void;
  /** Has its clock go wrong by so much, until it is told 0 or ends. */
  setClock(aheadMs: number): void;
  /** Ends it for good. */
  close(): Promise<void>;
}

/** @param crashed is told of what ended by itself once it was ready: no fault of a server may bring that about */
export function supervise(name: string, start: () => Service, crashed: (words: string) => void): Supervised {
  let isClosing = false;
  let service = start();
  const killed = new Set<Service>();
  const keep = async () => {
    for (;;) {
      const current = service;
      const wasReady = await current.ready.then(
        () => true,
        () => false, // its servers are away, and it has said so
      );
      const how = await current.ended;
      if (isClosing) return;
      if (wasReady && !killed.has(current)) {
        crashed(`${name} ended by itself with ${how}: ${current.output().stderr.slice(-2_000)}`);
      }
      await pause(AGAIN_AFTER_MS);
      if (isClosing) return;
      service = start();
    }
  };
  const isReady = service.ready;
  const kept = keep();
  return {
    ...{ name, isReady },
    kill() {
      killed.add(service);
      service.child.kill("SIGKILL");
    },
    signal: (signal) => void service.child.kill(signal),
    setClock(clockMs) {
      if (service.child.connected) service.child.send({ clockMs }, () => {}); // it may end meanwhile
    },
    async close() {
      isClosing = true;
      service.child.kill("SIGKILL");
      await kept;
    },
  };
}
