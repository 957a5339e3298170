import { execFile } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { KINDS, type Kind, type PlannedFault } from "./plan.ts";
import type { Member } from "./system/mongodb.ts";
import type { System } from "./system/system.ts";

/** An injected fault. */
export interface InjectedFault extends PlannedFault {
  /** Its target and severity, or the reason why it could not be injected. */
  readonly what: string;
  readonly wasInjected: boolean;
}

interface Fault {
  readonly what: string;
  heal(): Promise<void>;
}

type Injector = (system: System, planned: PlannedFault) => Promise<Fault>;

const nothing = async () => {};
const pickBy = <T>(list: readonly T[], draw: number): T => list[Math.floor(draw * list.length)] as T;

const kill =
  (which: "webs" | "workers"): Injector =>
  async (system, { draws }) => {
    const target = pickBy(system[which], draws[0]);
    target.kill();
    return { what: target.name, heal: nothing };
  };

const MAX_AHEAD_MS = 2 * 3_600_000;

/** Returns a jump of the clock of at least a second; small and large ones are equally likely. */
const jumpOf = (draw: number): number =>
  Math.round(Math.sign(draw - 0.5) * 1_000 * (MAX_AHEAD_MS / 1_000) ** Math.abs(2 * draw - 1));

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

const INJECTORS: Readonly<Record<Kind, Injector>> = {
  "kill-web": kill("webs"),
  "kill-worker": kill("workers"),
  async "pause-worker"({ workers }, { draws }) {
    const target = pickBy(workers, draws[0]);
    target.signal("SIGSTOP");
    return { what: target.name, heal: async () => target.signal("SIGCONT") };
  },
  async "jump-clock"({ webs, workers }, { draws }) {
    const target = pickBy([...webs, ...workers], draws[0]);
    const aheadMs = jumpOf(draws[1]);
    target.setClock(aheadMs);
    return { what: `${target.name} by ${Math.round(aheadMs / 1_000)} s`, heal: async () => target.setClock(0) };
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
  async "slow-redis"({ redis }, { draws }) {
    const ms = Math.round(50 + draws[0] * 750);
    redis.proxy.delay(ms);
    return { what: `by ${ms} ms each way`, heal: async () => redis.proxy.restore() };
  },
  async "cut-redis"({ redis }) {
    redis.proxy.cut();
    return { what: "all connections", heal: async () => redis.proxy.restore() };
  },
  "kill-mongod": async (system, { draws }) => killMember(system, pickBy(system.mongodb.members, draws[0])),
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
      member.proxy.restore();
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
 * @param stop aborted to stop early, after pending faults are healed
 * @throws the error that prevents healing
 */
export async function injectFaults(
  system: System,
  plan: readonly PlannedFault[],
  { seconds, stop }: { readonly seconds: number; readonly stop: AbortSignal },
): Promise<InjectedFault[]> {
  const began = performance.now();
  const parts = [...Map.groupBy(plan, ({ kind }) => KINDS[kind].part).values()];
  const injectPart = async (ofPart: readonly PlannedFault[]) => {
    const injected: InjectedFault[] = [];
    for (const planned of ofPart) {
      const wait = planned.atMs - (performance.now() - began);
      if (wait > 0) await pause(wait, undefined, { signal: stop }).catch(() => {});
      if (stop.aborted) break;
      const isLate = performance.now() - began > seconds * 1_000;
      if (isLate && injected.some(({ kind }) => kind === planned.kind)) continue;
      injected.push(await inject(system, planned, stop));
    }
    return injected;
  };
  return (await Promise.all(parts.map(injectPart))).flat().sort((one, other) => one.atMs - other.atMs);
}

async function inject(system: System, planned: PlannedFault, stop: AbortSignal): Promise<InjectedFault> {
  let fault: Fault;
  try {
    fault = await INJECTORS[planned.kind](system, planned);
  } catch (error) {
    return { ...planned, what: `not possible here: ${(error as Error).message}`, wasInjected: false };
  }
  await pause(planned.forMs, undefined, { signal: stop }).catch(() => {});
  await fault.heal();
  return { ...planned, what: fault.what, wasInjected: true };
}
