import { Lifecycle } from "../../src/shared/lifecycle.ts";
import { eventually } from "../support/eventually.ts";
import { isGivenUp } from "./checks/checkDeliveries.ts";
import { check } from "./checks/checker.ts";
import type { History, Refusal } from "./checks/history.ts";
import type { Violation } from "./checks/violation.ts";
import { carryOut, type Done } from "./faults.ts";
import { Client } from "./load/client.ts";
import { type Asked, sendLoad } from "./load/load.ts";
import { readAll, type Seen } from "./load/readers.ts";
import { type Kind, kindsOn, makePlan, type Topology } from "./plan.ts";
import { seeded } from "./random.ts";
import { Stores } from "./system/stored.ts";
import { type Processes, startSystem } from "./system/system.ts";

/** Maximum time for all work to end after the last fault, including leases, backoffs and the backlog. */
const END_TIMEOUT_MS = 300_000;
/** Polling interval for the end of all work. */
const POLL_EVERY_MS = 100;

export interface AttackSettings {
  readonly seed: number;
  readonly topology: Topology;
  readonly processes: Processes;
  readonly kinds: readonly Kind[];
  /** How long faults are injected. */
  readonly seconds: number;
  /** Maximum duration of a fault. */
  readonly mostSeconds: number;
  /** Numbers of concurrent job clients and of sessions, and the polling interval of each reader. */
  readonly load: { readonly reporters: number; readonly sessions: number; readonly readEveryMs: number };
  /** Aborted to end the faults early. */
  readonly over?: AbortSignal;
  say(line: string): void;
}

/** The result of one attack. */
export interface Attacked extends Pick<AttackSettings, "seed" | "topology"> {
  readonly faults: readonly Done[];
  readonly violations: readonly Violation[];
  readonly figures: Figures;
}

export interface Figures {
  readonly reports: number;
  readonly hooks: number;
  readonly runs: number;
  readonly events: number;
  readonly deliveries: number;
  readonly reads: number;
  /** Number of acknowledged requests. */
  readonly acknowledged: number;
  /** Number of the agent's turns beyond one for each run. */
  readonly repeatedTurns: number;
  /** Number of runs that failed after their third attempt. */
  readonly failedRuns: number;
  /** Numbers of deliveries with a part that may have arrived twice, and of those that were given up for that. */
  readonly maybeTwice: number;
  readonly givenUp: number;
  /** Time from the last fault to the end of all work. */
  readonly endedAfterMs: number;
}

/** Starts a system, injects faults under load, waits for the end of all work, and checks the history. */
export async function attack(settings: AttackSettings): Promise<Attacked> {
  const open = new Lifecycle();
  try {
    return await attackIn(open, settings);
  } finally {
    await open.close((name, error) => settings.say(`${name} did not close well: ${error}`));
  }
}

async function attackIn(open: Lifecycle, settings: AttackSettings): Promise<Attacked> {
  const { seed, topology, seconds, mostSeconds, say } = settings;
  const random = seeded(seed, topology);
  const kinds = settings.kinds.filter((kind) => kindsOn(topology).includes(kind));
  const plan = makePlan(random.fork("plan"), { kinds, seconds, mostSeconds });
  const system = await startSystem(topology, settings.processes, random.fork("services"), open);
  const stores = new Stores(system.mongodb.uri);
  open.onClose("stores", () => stores.close());

  const asked: Asked = { reports: [], hooks: [], jobIds: [], runIds: [] };
  const seen: Seen = { reads: [], runReads: [] };
  const refusals: Refusal[] = [];
  const [faultsOver, loadOver, readOver, given] = Array.from({ length: 4 }, () => new AbortController()) as [
    AbortController,
    AbortController,
    AbortController,
    AbortController,
  ];
  settings.over?.addEventListener("abort", () => faultsOver.abort());
  const clientOf = (name: string, until: AbortSignal) => new Client(system.urls, random.fork(name), refusals, until);
  const client = clientOf("client", given.signal);
  const loading = sendLoad(asked, { client, random, over: loadOver.signal, ...settings.load });
  const reading = readAll(seen, asked, {
    ...{ client: clientOf("readers", given.signal), random, over: readOver.signal },
    everyMs: settings.load.readEveryMs,
  });
  loading.catch(() => {});
  reading.catch(() => {}); // Both promises are awaited below.
  say(`${topology}: ${plan.length} faults in ${seconds} s`);
  const faults = await carryOut(system, plan, { seconds, over: faultsOver.signal });
  const healedAt = performance.now();
  say(`${topology}: the faults are over; waiting for the end of everything`);

  loadOver.abort();
  const giveUp = setTimeout(() => given.abort(), END_TIMEOUT_MS);
  await loading;
  let left = "";
  const isDone = async () => {
    left = await stores.unfinished().catch((error: Error) => error.message);
    return left === "" || given.signal.aborted;
  };
  await eventually(isDone, "the end of everything", 2 * END_TIMEOUT_MS, POLL_EVERY_MS);
  clearTimeout(giveUp);
  readOver.abort();
  await reading;
  const endedAfterMs = performance.now() - healedAt;
  if (left !== "") say(`${topology}: not everything came to its end: ${left}`);

  const stored = await stores.readAll(asked.jobIds, clientOf("end", AbortSignal.timeout(END_TIMEOUT_MS)));
  const { turns, posts } = system.services;
  const { reports, hooks } = asked;
  const history: History = { reports, hooks, ...seen, refusals, turns, posts, crashes: system.crashes, stored };
  return { seed, topology, faults, violations: check(history), figures: figuresOf(history, endedAfterMs) };
}

function figuresOf({ reports, hooks, reads, runReads, turns, stored }: History, endedAfterMs: number): Figures {
  const answers = hooks.flatMap((hook) => hook.answers).length;
  const marks = turns.flatMap(({ mark }) => mark ?? []);
  return {
    ...{ reports: reports.length, hooks: hooks.length, runs: stored.runs.length, events: stored.events.length },
    ...{ deliveries: stored.deliveries.length, reads: reads.length + runReads.length },
    acknowledged: reports.filter(({ acknowledged }) => acknowledged).length + answers,
    repeatedTurns: marks.length - new Set(marks).size,
    failedRuns: stored.runs.filter(({ status }) => status === "failed").length,
    maybeTwice: stored.deliveries.filter(({ maybeTwice }) => maybeTwice).length,
    givenUp: stored.deliveries.filter(isGivenUp).length,
    endedAfterMs,
  };
}
