import { createHash, randomUUID } from "node:crypto";
import { isWorthDelivering } from "../../agents/prompt/acknowledgement.ts";
import { DEFAULT_HEARTBEAT_PROMPT, heartbeatPrompt } from "../../agents/prompt/heartbeatPrompt.ts";
import type { AgentReply, AgentRunner } from "../../agents/runners/runner.ts";
import type { TurnUsage } from "../../agents/runners/turnUsage.ts";
import type { Config } from "../../config/config.ts";
import { addDelivery, type DeliverySettings } from "../../models/deliveries/addDelivery.ts";
import { findSentTo } from "../../models/deliveries/readDeliveries.ts";
import { markedReply } from "../../models/runs/cutOffReply.ts";
import { SUMMARY_PREFIX } from "../../models/runs/finalizeRun.ts";
import { type MainEventDoc, NOTIFICATION_PREFIX } from "../../models/sessions/mainEvent.ts";
import type { Stores } from "../../models/stores.ts";
import { backoff } from "../../shared/backoff.ts";
import type { AppError } from "../../shared/errors.ts";
import { withLease } from "../../shared/lease.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Queues } from "../../shared/queue/producer.ts";
import { MAIN_SESSION } from "../../shared/sessionKey.ts";
import type { Timings } from "../../shared/timings.ts";
import { enqueueDelivery } from "../deliveries/enqueueDelivery.ts";
import { modelLabel, type WorkerMetrics } from "../metrics.ts";
import type { ProcessorOutcome } from "../outcome.ts";
import { retryWhileMongoIsDown } from "../runs/retryWhileMongoIsDown.ts";
import { runTurn, type TurnOutcome } from "../runs/turn.ts";
import { turnMessages } from "../runs/turnMessages.ts";
import type { Processor, RunContext } from "../runWorkers.ts";

export interface HeartbeatDeps {
  readonly stores: Stores;
  readonly runner: AgentRunner;
  /** The runner for people, with its address if it has one. */
  readonly runnerName: string;
  readonly session: { readonly maxMessages: number; readonly maxChars: number };
  readonly defaults: Pick<
    Config["agents"]["defaults"],
    "model" | "models" | "systemPrompt" | "thinking" | "timeoutSeconds"
  >;
  readonly delivery: DeliverySettings;
  readonly queues: Pick<Queues, "deliver">;
  readonly metrics: WorkerMetrics;
  /** Maximum turns within a minute that only events of rules start. */
  readonly ruleTurnsPerMinute: number;
  /** The operator's prompt. The built-in one is only about events, so that without them no scheduled turn takes place. */
  readonly prompt: string | undefined;
}

/**
 * Returns the processor that runs turns of the main session over the waiting events, one turn after another until none
 * waits. Events are removed only when the turn that included them has succeeded. After a failure they wait for
 * `retry.heartbeatMs`, longer with each further one, or for the next trigger.
 */
export function heartbeatProcessor(deps: HeartbeatDeps): Processor {
  return async ({ payload }, context) => {
    const { scheduled } = payload as { scheduled: boolean };
    // If this turn fails, the sweep triggers another one: the next scheduled turn may be a day away.
    if (scheduled) await retryWhileMongoIsDown(() => deps.stores.mainEvents.wakeAll(), context);
    const token = randomUUID();
    const timings = context.timings.lease;
    const leaseEnd = () => new Date(context.clock.now().getTime() + timings.durationMs);
    const { sessions } = deps.stores;
    const main = { key: MAIN_SESSION, holder: token };
    if (!(await sessions.acquire(main, { token, until: leaseEnd() }))) return { kind: "done", result: { turns: 0 } };
    const lease = {
      renew: (until: Date) => sessions.renew(MAIN_SESSION, { token, until }),
      now: () => context.clock.now(),
    };
    try {
      const renew = () => lease.renew(leaseEnd());
      return await withLease(lease, timings, (lost) => runTurns(deps, scheduled, { lost, renew }, context));
    } finally {
      await sessions.release(MAIN_SESSION, token);
    }
  };
}

/** Maximum events read for one turn. The prompt decides how many of them fit. */
const MAX_EVENTS = 500;

/** @param scheduled whether the first turn runs even without events */
async function runTurns(
  deps: HeartbeatDeps,
  scheduled: boolean,
  { lost, renew }: { lost: AbortSignal; renew: () => Promise<boolean> },
  context: RunContext,
): Promise<ProcessorOutcome> {
  const { mainEvents: queue, sessions } = deps.stores;
  let turns = 0;
  let hasMore = false;
  for (let due = scheduled; !lost.aborted; due = false) {
    const { events, more } = await queue.findWaiting({ limit: MAX_EVENTS, maxChars: deps.session.maxChars });
    // Another turn follows for events that did not fit, and for new events that ask for a turn at once.
    const wakes = events.filter(({ wake }) => wake);
    const areOfRules = events.length > 0 && (wakes.length > 0 ? wakes : events).every(isOfRule);
    // Events of rules that are to wait for a heartbeat start no turn, whatever has triggered this one.
    const canWait = areOfRules && wakes.length === 0 && !more;
    const wanted = events.length > 0 && ((turns === 0 && !canWait) || hasMore || wakes.length > 0);
    if (wanted && !due && areOfRules && wakes.length > 0 && !(await mayStart(deps, wakes, context))) {
      return { kind: "done", result: { turns, end: "limit" } };
    }
    if (!wanted && (!due || deps.prompt === undefined)) return { kind: "done", result: { turns }, isIdle: turns === 0 };
    const delivered = await retryWhileMongoIsDown(() => findDelivered(deps, events), context);
    const { text, taken, sentChars } = promptOf(deps, events, delivered);
    const outcome = await turn(deps, text, lost, context);
    deps.metrics.heartbeats.inc({ outcome: outcome.kind });
    if (outcome.kind === "failed") {
      const nextTryAt = await sessions.pauseMain(events.at(-1)?._id ?? null, pauseAfter(context.timings));
      if (outcome.error.code !== "agent_unavailable") return { kind: "discard", error: outcome.error };
      logWaiting(context.log, deps.runnerName, outcome.error, nextTryAt);
      return { kind: "done", result: { turns, end: "unavailable" }, isIdle: true };
    }
    if (outcome.kind !== "replied") return { kind: "done", result: { turns, end: outcome.kind } };
    if (lost.aborted || !(await retryWhileMongoIsDown(renew, context))) break; // another worker holds the lease
    const included = { whole: events.slice(0, taken), part: sentChars > 0 ? events[taken] : undefined, sentChars };
    const turnId = turnIdOf(included);
    const { reply } = outcome;
    await retryWhileMongoIsDown(() => storeTurn(deps, turnId, text, reply, included, context), context);
    await retryWhileMongoIsDown(() => sessions.resumeMain(), context);
    turns++;
    hasMore = more || taken < events.length;
  }
  return { kind: "done", result: { turns, end: "lost" } };
}

/** Maximum characters of a prompt of the main session: one document of 16 MiB stores it, at up to 3 bytes a character. */
const MAX_PROMPT_CHARS = 5_000_000;

/** @param delivered the ids of events whose runs have sent their reply to the recipient of the main session */
function promptOf(
  { prompt = DEFAULT_HEARTBEAT_PROMPT, session }: HeartbeatDeps,
  events: readonly MainEventDoc[],
  delivered: ReadonlySet<string>,
): ReturnType<typeof heartbeatPrompt> {
  const waiting = events.map(({ _id: eventId, text, source, createdAt: at, sentChars }) => {
    return { eventId, text, source, at, sentChars, isDelivered: delivered.has(eventId) };
  });
  return heartbeatPrompt({ prompt, events: waiting, maxChars: Math.min(session.maxChars, MAX_PROMPT_CHARS) });
}

const pauseAfter = ({ retry }: Timings) => backoff({ initialMs: retry.heartbeatMs, maxMs: retry.maxHeartbeatMs });

/** Logs a failure that the operator's server or program has caused, and that ends by itself: one line, without a stack. */
function logWaiting(log: Logger, runnerName: string, { code, message }: AppError, nextTryAt: Date): void {
  const time = nextTryAt.toTimeString().slice(0, "hh:mm".length);
  log.warn({ code, nextTryAt }, `The main session waits for ${runnerName} (next try ${time}): ${message}`);
}

const isOfRule = ({ _id, depth = 0 }: MainEventDoc): boolean => _id.startsWith(NOTIFICATION_PREFIX) || depth > 0;

/** Returns whether events of rules may start a turn now. Above the limit of a minute they wait for the next heartbeat. */
async function mayStart(
  { stores: { sessions, mainEvents }, ruleTurnsPerMinute: limit }: HeartbeatDeps,
  wakes: readonly MainEventDoc[],
  context: RunContext,
): Promise<boolean> {
  const count = await retryWhileMongoIsDown(() => sessions.countRuleTurn(), context);
  if (count <= limit) return true;
  if (count === limit + 1) {
    context.log.warn({ limit }, "rules wake the agent too often; their events wait for the next heartbeat");
  }
  await retryWhileMongoIsDown(() => mainEvents.postpone(wakes.map(({ _id }) => _id)), context);
  return false;
}

/** Returns the ids of the summaries whose runs deliver their reply to the recipient of the main session. */
async function findDelivered(
  { stores: { deliveries, sessions }, delivery }: HeartbeatDeps,
  events: readonly MainEventDoc[],
): Promise<ReadonlySet<string>> {
  const summaries = events.map(({ _id }) => _id).filter((id) => id.startsWith(SUMMARY_PREFIX));
  const target = summaries.length > 0 ? await sessions.currentReplyTarget(delivery.initialReplyTarget) : null;
  if (!target) return new Set();
  const deliveryIds = summaries.map((id) => id.slice(SUMMARY_PREFIX.length));
  const sent = await findSentTo(deliveries, target, deliveryIds);
  return new Set(sent.map((deliveryId) => SUMMARY_PREFIX + deliveryId));
}

/** The events that a turn's prompt includes: whole ones, or the first `sentChars` characters of one. */
interface IncludedEvents {
  readonly whole: readonly MainEventDoc[];
  readonly part: MainEventDoc | undefined;
  readonly sentChars: number;
}

/** Returns the same id for the same events, so that the result of a turn is stored once, even after a crash in between. */
function turnIdOf({ whole, part, sentChars }: IncludedEvents): string {
  const [first] = whole;
  if (!first && !part) return randomUUID();
  const key = part ? [part._id, sentChars] : [first?._id, whole.at(-1)?._id];
  // A hash, because the id is also that of the delivery, which people copy from a table.
  return `turn-${createHash("sha256").update(JSON.stringify(key)).digest("hex").slice(0, 32)}`;
}

function turn(deps: HeartbeatDeps, prompt: string, lost: AbortSignal, context: RunContext): Promise<TurnOutcome> {
  const { stores, runner, session, defaults, metrics } = deps;
  const { timings } = context;
  const work = async (signal: AbortSignal) => {
    const read = () => stores.messages.findRecent(MAIN_SESSION, session);
    const history = await retryWhileMongoIsDown(read, { signal, timings });
    const messages = turnMessages(defaults.systemPrompt, history, prompt);
    const { model, thinking } = defaults;
    const onUsage = (usage: TurnUsage) => metrics.countUsage(usage, modelLabel(deps.defaults, model));
    return runner.run({ kind: "heartbeat", messages, model, thinking, env: {}, onUsage }, signal);
  };
  return runTurn(work, { timeoutMs: defaults.timeoutSeconds * 1_000, stopping: context.signal, lost });
}

/** Stores a turn, removes its events and delivers its reply. May run twice for one turn. */
async function storeTurn(
  deps: HeartbeatDeps,
  turnId: string,
  prompt: string,
  { text: reply, isCutOff = false }: AgentReply,
  { whole, part, sentChars }: IncludedEvents,
  { clock }: RunContext,
): Promise<void> {
  const { stores, delivery } = deps;
  const depth = Math.max(0, ...[...whole, ...(part ? [part] : [])].map((event) => event.depth ?? 0));
  const wanted = { _id: turnId, runId: null, channel: "last", to: null, text: markedReply({ reply, isCutOff }), depth };
  const noted = isWorthDelivering(reply) ? await addDelivery(stores, wanted, delivery) : null;
  const turn = { sessionKey: MAIN_SESSION, prompt, outside: false, reply, endedAt: clock.now() };
  await stores.messages.addTurn(turnId, turn);
  if (part) await stores.mainEvents.updateSentChars(part._id, sentChars);
  else await stores.mainEvents.take(whole.map(({ _id }) => _id));
  if (noted) await enqueueDelivery(deps, noted);
}
