import { execFile } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { KINDS, type Kind, type Planned } from "./plan.ts";
import type { Member } from "./system/mongodb.ts";
import type { System } from "./system/system.ts";

/** An injected fault. */
export interface Done extends Planned {
  /** Its target and severity, or the reason why it could not be injected. */
  readonly what: string;
  readonly isDone: boolean;
}

interface Fault {
  readonly what: string;
  heal(): Promise<void>;
}

type Act = (system: System, planned: Planned) => Promise<Fault>;

const nothing = async () => {};
const drawnOf = <T>(list: readonly T[], drawn: number): T => list[Math.floor(drawn * list.length)] as T;

const kill =
  (which: "webs" | "workers"): Act =>
  async (system, { drawn }) => {
    const victim = drawnOf(system[which], drawn[0]);
    victim.kill();
    return { what: victim.name, heal: nothing };
  };

const MOST_AHEAD_MS = 2 * 3_600_000;

/** Draws a jump of the clock from a second on, with small and large ones equally likely. */
const jumpOf = (drawn: number): number =>
  Math.round(Math.sign(drawn - 0.5) * 1_000 * (MOST_AHEAD_MS / 1_000) ** Math.abs(2 * drawn - 1));

/** Kills a mongod; heal() restarts it with its data. */
async function killMember({ mongodb }: System, member: Member): Promise<Fault> {
  await member.server.stop("SIGKILL");
  const heal = async () => {
    await member.server.start();
    await mongodb.isBack(member);
  };
  return { what: nameOf(member), heal };
}

const nameOf = ({ server }: Member) => `the mongod on port ${server.port}`;

const ACTS: Readonly<Record<Kind, Act>> = {
  "kill-web": kill("webs"),
  "kill-worker": kill("workers"),
  async "pause-worker"({ workers }, { drawn }) {
    const victim = drawnOf(workers, drawn[0]);
    victim.signal("SIGSTOP");
    return { what: victim.name, heal: async () => victim.signal("SIGCONT") };
  },
  async "jump-clock"({ webs, workers }, { drawn }) {
    const victim = drawnOf([...webs, ...workers], drawn[0]);
    const aheadMs = jumpOf(drawn[1]);
    victim.setClock(aheadMs);
    return { what: `${victim.name} by ${Math.round(aheadMs / 1_000)} s`, heal: async () => victim.setClock(0) };
  },
  async "kill-redis"({ redis }) {
    await redis.server.stop("SIGKILL");
    return { what: "redis-server", heal: () => redis.server.start() };
  },
  async "flush-redis"({ redis }) {
    const client = new Redis(redis.server.url);
    await client.flushall();
    client.disconnect();
    return { what: "redis-server", heal: nothing };
  },
  async "pause-redis"({ redis }) {
    redis.server.signal("SIGSTOP");
    return { what: "redis-server", heal: async () => redis.server.signal("SIGCONT") };
  },
  async "slow-redis"({ redis }, { drawn }) {
    const ms = Math.round(50 + drawn[0] * 750);
    redis.proxy.delay(ms);
    return { what: `by ${ms} ms each way`, heal: async () => redis.proxy.mend() };
  },
  async "cut-redis"({ redis }) {
    redis.proxy.cut();
    return { what: "all connections", heal: async () => redis.proxy.mend() };
  },
  "kill-mongod": async (system, { drawn }) => killMember(system, drawnOf(system.mongodb.members, drawn[0])),
  "kill-primary": async (system) => killMember(system, await system.mongodb.primary()),
  async "pause-mongod"({ mongodb }) {
    const member = await mongodb.primary();
    member.server.signal("SIGSTOP");
    const heal = async () => {
      member.server.signal("SIGCONT");
      await mongodb.isBack(member);
    };
    return { what: nameOf(member), heal };
  },
  async "cut-mongod"({ mongodb }) {
    const member = await mongodb.primary();
    member.proxy.cut();
    const heal = async () => {
      member.proxy.mend();
      await mongodb.isBack(member);
    };
    return { what: nameOf(member), heal };
  },
  async "fill-disk"(system) {
    const member = await system.mongodb.primary();
    // Simulates a full disk without privileges: no file of the process may grow.
    await promisify(execFile)("prlimit", ["--pid", String(member.server.pid), "--fsize=4096:"]);
    const heal = async () => (await killMember(system, member)).heal(); // It has probably exited by itself.
    return { what: nameOf(member), heal };
  },
};

/**
 * Injects the faults of a plan. Faults of one part of the system follow each other, each healed before the next.
 * @param seconds time after which only the first fault of a kind is still injected
 * @param over aborted to stop early, after pending faults are healed
 * @throws the error that prevents healing
 */
export async function carryOut(
  system: System,
  plan: readonly Planned[],
  { seconds, over }: { readonly seconds: number; readonly over: AbortSignal },
): Promise<Done[]> {
  const began = performance.now();
  const parts = [...Map.groupBy(plan, ({ kind }) => KINDS[kind].part).values()];
  const carryOutPart = async (ofPart: readonly Planned[]) => {
    const done: Done[] = [];
    for (const planned of ofPart) {
      const wait = planned.atMs - (performance.now() - began);
      if (wait > 0) await pause(wait, undefined, { signal: over }).catch(() => {});
      if (over.aborted) break;
      const isLate = performance.now() - began > seconds * 1_000;
      if (isLate && done.some(({ kind }) => kind === planned.kind)) continue;
      done.push(await bringAbout(system, planned, over));
    }
    return done;
  };
  return (await Promise.all(parts.map(carryOutPart))).flat().sort((one, other) => one.atMs - other.atMs);
}

async function bringAbout(system: System, planned: Planned, over: AbortSignal): Promise<Done> {
  let fault: Fault;
  try {
    fault = await ACTS[planned.kind](system, planned);
  } catch (error) {
    return { ...planned, what: `not possible here: ${(error as Error).message}`, isDone: false };
  }
  await pause(planned.forMs, undefined, { signal: over }).catch(() => {});
  await fault.heal();
  return { ...planned, what: fault.what, isDone: true };
}
