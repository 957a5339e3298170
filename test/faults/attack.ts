import { setTimeout as pause } from "node:timers/promises";
import { Lifecycle } from "../../src/shared/process/lifecycle.ts";
import { eventually } from "../support/eventually.ts";
import { isGivenUp } from "./checks/checkDeliveries.ts";
import { check } from "./checks/checker.ts";
import { greatestDelay } from "./checks/checkNotifications.ts";
import type { History, Refusal } from "./checks/history.ts";
import type { Violation } from "./checks/violation.ts";
import { type InjectedFault, injectFaults } from "./faults.ts";
import { Client } from "./load/client.ts";
import { type SentRequests, sendLoad } from "./load/load.ts";
import { type Observations, readAll } from "./load/readers.ts";
import { type Kind, kindsOn, makePlan, type Topology } from "./plan.ts";
import { seeded } from "./random.ts";
import { Stores } from "./system/stored.ts";
import { type Processes, type System, startSystem } from "./system/system.ts";

/**
 * Maximum time for all work to end after the last fault, including leases, the backlog, and the pause of five minutes
 * after a webhook whose worker died and whose receiver then refused it.
 */
const END_TIMEOUT_MS = 420_000;
/** Maximum time from a transition to its webhook without any fault, on a machine that does much else. */
const USUAL_DELAY_MS = 60_000;
/** Polling interval for the end of all work. */
const POLL_EVERY_MS = 100;

export interface AttackSettings {
  readonly seed: number;
  readonly topology: Topology;
  readonly processes: Processes;
  readonly kinds: readonly Kind[];
  /** How long the load is sent and faults are injected. */
  readonly seconds: number;
  /** Maximum duration of a fault. */
  readonly maxSeconds: number;
  /** Numbers of concurrent job clients and of sessions, and the polling interval of each reader. */
  readonly load: { readonly reporters: number; readonly sessions: number; readonly readEveryMs: number };
  /** Aborted to end the faults early. */
  readonly stop?: AbortSignal;
  /** Called when the system runs and the load begins. */
  onStart?(system: System): void;
  log(line: string): void;
}

/** The result of one attack. */
export interface AttackResult extends Pick<AttackSettings, "seed" | "topology"> {
  readonly faults: readonly InjectedFault[];
  readonly violations: readonly Violation[];
  readonly figures: Figures;
}

export interface Figures {
  readonly reports: number;
  readonly hooks: number;
  readonly runs: number;
  readonly events: number;
  readonly deliveries: number;
  readonly notifications: number;
  /** The greatest time from a transition to its webhook. */
  readonly notifiedAfterMs: number;
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
export async function attack(settings: AttackSettings): Promise<AttackResult> {
  const open = new Lifecycle();
  try {
    return await attackIn(open, settings);
  } finally {
    await open.close((name, error) => settings.log(`${name} did not close well: ${error}`));
  }
}

async function attackIn(open: Lifecycle, settings: AttackSettings): Promise<AttackResult> {
  const { seed, topology, seconds, maxSeconds, log } = settings;
  const random = seeded(seed, topology);
  const kinds = settings.kinds.filter((kind) => kindsOn(topology).includes(kind));
  const plan = makePlan(random.fork("plan"), { kinds, seconds, maxSeconds });
  const system = await startSystem(topology, settings.processes, random.fork("services"), open);
  settings.onStart?.(system);
  const stores = new Stores(system.mongodb.uri);
  open.onClose("stores", () => stores.close());

  const sent: SentRequests = { reports: [], hooks: [], transitions: [], jobIds: [], runIds: [] };
  const observations: Observations = { reads: [], runReads: [] };
  const refusals: Refusal[] = [];
  const [stopFaults, stopLoad, stopReaders, giveUp] = Array.from({ length: 4 }, () => new AbortController()) as [
    AbortController,
    AbortController,
    AbortController,
    AbortController,
  ];
  settings.stop?.addEventListener("abort", () => stopFaults.abort());
  const { turns, posts, received, accepted } = system.services;
  const clientOf = (name: string, until: AbortSignal) => new Client(system.urls, random.fork(name), refusals, until);
  const client = clientOf("client", giveUp.signal);
  const loading = sendLoad(sent, { client, random, stop: stopLoad.signal, ...settings.load, received });
  const reading = readAll(observations, sent, {
    client: clientOf("readers", giveUp.signal),
    random,
    stop: stopReaders.signal,
    everyMs: settings.load.readEveryMs,
  });
  loading.catch(() => {});
  reading.catch(() => {}); // Both promises are awaited below.
  log(`${topology}: ${plan.length} faults in ${seconds} s`);
  const [faults] = await Promise.all([
    injectFaults(system, plan, { seconds, stop: stopFaults.signal }),
    pause(seconds * 1_000, undefined, { signal: stopFaults.signal }).catch(() => {}),
  ]);
  const healedAt = performance.now();
  log(`${topology}: the faults are over; waiting for the end of all work`);

  stopLoad.abort();
  const giveUpTimer = setTimeout(() => giveUp.abort(), END_TIMEOUT_MS);
  await loading;
  let left = "";
  const isDone = async () => {
    left = await stores.unfinished().catch((error: Error) => error.message);
    return left === "" || giveUp.signal.aborted;
  };
  await eventually(isDone, "the end of all work", 2 * END_TIMEOUT_MS, POLL_EVERY_MS);
  stopReaders.abort();
  await reading;
  const endedAfterMs = performance.now() - healedAt;
  if (left !== "") log(`${topology}: some work did not end: ${left}`);

  const reader = clientOf("end", AbortSignal.timeout(END_TIMEOUT_MS));
  const readEnded = async () => {
    const stored = await stores.readAll(sent.jobIds, reader);
    // The main session's heartbeat goes on: its turn may have added a delivery since the end of all other work.
    const isPending = stored.deliveries.some(({ state }) => state === "pending");
    // Jobs go on becoming stale: what was noted before the read is received once no work is left.
    const isQuiet = !isPending && (await stores.unfinished().catch(() => "unknown")) === "";
    return (isQuiet || giveUp.signal.aborted) && stored;
  };
  const stored = await eventually(readEnded, "the end of all deliveries", 2 * END_TIMEOUT_MS, POLL_EVERY_MS);
  clearTimeout(giveUpTimer);
  const { reports, hooks, transitions } = sent;
  const history: History = {
    reports,
    hooks,
    ...observations,
    refusals,
    turns,
    posts,
    received,
    accepted: [...accepted],
    transitions,
    notifiedWithinMs: notifiedWithin(settings),
    crashes: system.crashes,
    stored,
  };
  return { seed, topology, faults, violations: check(history), figures: figuresOf(history, endedAfterMs) };
}

/**
 * Returns the maximum time from a transition to its notification if Redis is only emptied meanwhile. An emptied Redis may
 * lose the event and then its delivery, and the sweep finds either.
 */
function notifiedWithin({ kinds, processes: { sweep } }: AttackSettings): number | undefined {
  const isOnlyEmptied = kinds.every((kind) => kind === "flush-redis");
  return isOnlyEmptied ? 2 * (sweep.everyMs + sweep.minAgeMs) + USUAL_DELAY_MS : undefined;
}

function figuresOf(history: History, endedAfterMs: number): Figures {
  const { reports, hooks, reads, runReads, turns, received, stored } = history;
  const answers = hooks.flatMap((hook) => hook.answers).length;
  const marks = turns.flatMap(({ mark }) => mark ?? []);
  return {
    reports: reports.length,
    hooks: hooks.length,
    runs: stored.runs.length,
    events: stored.events.length,
    notifications: received.length,
    notifiedAfterMs: greatestDelay(history),
    deliveries: stored.deliveries.length,
    reads: reads.length + runReads.length,
    acknowledged: reports.filter(({ acknowledged }) => acknowledged).length + answers,
    repeatedTurns: marks.length - new Set(marks).size,
    failedRuns: stored.runs.filter(({ status }) => status === "failed").length,
    maybeTwice: stored.deliveries.filter(({ maybeTwice }) => maybeTwice).length,
    givenUp: stored.deliveries.filter(isGivenUp).length,
    endedAfterMs,
  };
}
