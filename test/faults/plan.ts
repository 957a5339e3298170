import type { Random } from "./random.ts";

/** The topology of MongoDB: a replica set of one, as in `npm start`, or of three members. */
export type Topology = "single" | "set";

/** The target of a fault. Faults of one part follow each other; faults of different parts overlap. */
type Part = "processes" | "redis" | "mongodb";

interface KindOfFault {
  readonly part: Part;
  /** The duration of the fault; for an instant fault, the pause before the part's next one. */
  readonly seconds: readonly [min: number, max: number];
  readonly on: readonly Topology[];
  readonly what: string;
}

const BOTH = ["single", "set"] as const;

export const KINDS = {
  "kill-web": { part: "processes", seconds: [0, 1], on: BOTH, what: "kill -9 of a web process" },
  "kill-worker": { part: "processes", seconds: [0, 1], on: BOTH, what: "kill -9 of a worker process" },
  "pause-worker": {
    part: "processes",
    seconds: [1, 25],
    on: BOTH,
    what: "a worker stopped (SIGSTOP), also beyond the end of its leases, and continued",
  },
  "jump-clock": {
    part: "processes",
    seconds: [2, 20],
    on: BOTH,
    what: "the clock of a web or worker process shifted by up to two hours in either direction",
  },
  "kill-redis": {
    part: "redis",
    seconds: [0, 8],
    on: BOTH,
    what: "kill -9 of redis-server, which is empty after its restart",
  },
  "flush-redis": { part: "redis", seconds: [0, 1], on: BOTH, what: "FLUSHALL" },
  "pause-redis": { part: "redis", seconds: [1, 10], on: BOTH, what: "redis-server stopped (SIGSTOP)" },
  "slow-redis": { part: "redis", seconds: [3, 15], on: BOTH, what: "a delay of 50 to 800 ms to and from Redis" },
  "cut-redis": { part: "redis", seconds: [0, 5], on: BOTH, what: "all connections to Redis cut and new ones refused" },
  "kill-mongod": {
    part: "mongodb",
    seconds: [0, 8],
    on: BOTH,
    what: "kill -9 of the mongod, or of any member, which is restarted with its data",
  },
  "kill-primary": { part: "mongodb", seconds: [1, 10], on: ["set"], what: "kill -9 of the primary" },
  "pause-mongod": {
    part: "mongodb",
    seconds: [1, 12],
    on: BOTH,
    what: "the mongod, or the primary, stopped (SIGSTOP)",
  },
  "cut-mongod": {
    part: "mongodb",
    seconds: [0, 5],
    on: BOTH,
    what: "all connections to the mongod, or the primary, cut and new ones refused; its own to other members stay",
  },
  "fill-disk": {
    part: "mongodb",
    seconds: [1, 6],
    on: BOTH,
    what: "no space for the mongod, or the primary, to write; it is restarted when there is space",
  },
} as const satisfies Record<string, KindOfFault>;

export type Kind = keyof typeof KINDS;

export const KIND_NAMES = Object.keys(KINDS) as Kind[];

export const kindsOn = (topology: Topology): Kind[] =>
  KIND_NAMES.filter((kind) => (KINDS[kind].on as readonly Topology[]).includes(topology));

/** A planned fault. */
export interface PlannedFault {
  readonly kind: Kind;
  /** Time since the start of the load. */
  readonly atMs: number;
  readonly forMs: number;
  /** Random numbers in [0, 1) that determine its target and severity. */
  readonly draws: readonly [number, number];
}

export interface PlanSettings {
  readonly kinds: readonly Kind[];
  readonly seconds: number;
  /** Maximum duration of a fault. */
  readonly maxSeconds: number;
}

/**
 * Plans the faults. Each part of the system gets its kinds of faults in an order of its own, again and again, with pauses
 * in between. The first fault of each kind is planned even if the time is too short.
 */
export function makePlan(random: Random, { kinds, seconds, maxSeconds }: PlanSettings): PlannedFault[] {
  const parts = Map.groupBy(kinds, (kind) => KINDS[kind].part);
  const plan = [...parts].flatMap(([part, ofPart]) => planOf(random.fork(part), ofPart, { seconds, maxSeconds }));
  return plan.sort((one, other) => one.atMs - other.atMs);
}

function planOf(random: Random, kinds: readonly Kind[], bounds: Omit<PlanSettings, "kinds">): PlannedFault[] {
  const plan: PlannedFault[] = [];
  const quietMs = () => random.whole(500, Math.min(8_000, bounds.maxSeconds * 1_000));
  for (let atMs = quietMs(), round = 0; round === 0 || atMs < bounds.seconds * 1_000; round++) {
    for (const kind of random.shuffled(kinds)) {
      const [min, max] = KINDS[kind].seconds;
      const forMs = Math.round(1_000 * Math.min(min + random.next() * (max - min), bounds.maxSeconds));
      if (round > 0 && atMs > bounds.seconds * 1_000) break;
      plan.push({ kind, atMs, forMs, draws: [random.next(), random.next()] });
      atMs += forMs + quietMs();
    }
  }
  return plan;
}
