import { randomUUID } from "node:crypto";
import type { AgentRunner } from "../../agents/runners/runner.ts";
import { addDelivery, type DeliverySettings, type NotedDelivery } from "../../models/deliveries/addDelivery.ts";
import type { EventDoc } from "../../models/sessions/event.ts";
import type { Stores } from "../../models/stores.ts";
import { MAIN_SESSION } from "../../shared/config/formats/sessionKey.ts";
import { withLease } from "../../shared/lease.ts";
import type { WorkerMetrics } from "../metrics.ts";
import type { Outcome } from "../outcome.ts";
import type { Processor, RunContext } from "../run.ts";
import { retryWhileMongoIsDown } from "../runs/retryWhileMongoIsDown.ts";
import { boundTurn, type TurnEnd } from "../runs/turn.ts";
import { turnMessages } from "../runs/turnMessages.ts";

/** Most events that one turn looks at; how many fit is for the prompt to say. */
const MOST_EVENTS = 500;

export interface HeartbeatDeps {
  readonly stores: Stores;
  readonly runner: AgentRunner;
  readonly session: { readonly maxMessages: number; readonly maxChars: number };
  readonly defaults: {
    readonly systemPrompt?: string | undefined;
    readonly model?: string | undefined;
    readonly thinking?: string | undefined;
    readonly timeoutSeconds: number;
  };
  readonly delivery: DeliverySettings;
  readonly metrics: WorkerMetrics;
  isWorthDelivering(reply: string): boolean;
  /** The prompt over the events. `told`: how much of the one behind those that it holds has been told with it. */
  prompt(events: readonly EventDoc[]): { readonly text: string; readonly taken: number; readonly told: number };
  deliver(noted: NotedDelivery): Promise<void>;
}

/**
 * Turns of the main session over the events that wait, one after another until none waits. Events are taken off only
 * when the turn that knew them has succeeded; after a failure they wait for a minute, or for the next trigger.
 */
export function heartbeatProcessor(deps: HeartbeatDeps): Processor {
  return async ({ payload }, context) => {
    const { scheduled } = payload as { scheduled: boolean };
    // Whatever becomes of this turn, the sweep sees to another: the schedule's next one may be a day away.
    if (scheduled) await retryWhileMongoIsDown(() => deps.stores.events.wakeAll(), context);
    const token = randomUUID();
    const { lease } = context.timings;
    const leaseEnd = () => new Date(context.clock.now().getTime() + lease.durationMs);
    const { sessions } = deps.stores;
    const main = { key: MAIN_SESSION, holder: token };
    if (!(await sessions.acquire(main, { token, until: leaseEnd() }))) return { kind: "done", result: { turns: 0 } };
    const claim = {
      renew: (until: Date) => sessions.renew(MAIN_SESSION, { token, until }),
      now: () => context.clock.now(),
    };
    try {
      const keepsClaim = () => claim.renew(leaseEnd());
      return await withLease(claim, lease, (lost) => takeTurns(deps, scheduled, { lost, keepsClaim }, context));
    } finally {
      await sessions.release(MAIN_SESSION, token);
    }
  };
}

async function takeTurns(
  deps: HeartbeatDeps,
  scheduled: boolean,
  { lost, keepsClaim }: { lost: AbortSignal; keepsClaim: () => Promise<boolean> },
  context: RunContext,
): Promise<Outcome> {
  const { events: queue, sessions } = deps.stores;
  let turns = 0;
  let isLeft = false;
  for (let due = scheduled; !lost.aborted; due = false) {
    const { events, more } = await queue.findWaiting({ limit: MOST_EVENTS, maxChars: deps.session.maxChars });
    // After a turn another follows for what did not fit, and for what has come meanwhile and wants a turn at once.
    const wanted = events.length > 0 && (turns === 0 || isLeft || events.some(({ wake }) => wake));
    if (!due && !wanted) return { kind: "done", result: { turns } };
    const { text, taken, told } = deps.prompt(events);
    const end = await turn(deps, text, lost, context);
    deps.metrics.heartbeats.inc({ outcome: end.kind });
    if (end.kind === "failed") {
      await sessions.pauseMain(new Date(context.clock.now().getTime() + context.timings.retry.heartbeatMs));
      return { kind: "discard", error: end.error };
    }
    if (end.kind !== "replied") return { kind: "done", result: { turns, end: end.kind } };
    if (lost.aborted || !(await retryWhileMongoIsDown(keepsClaim, context))) break; // another worker has it by now
    const known = { whole: events.slice(0, taken), part: told > 0 ? events[taken] : undefined, told };
    const turnId = nameOf(known);
    const { reply } = end;
    await retryWhileMongoIsDown(() => conclude(deps, turnId, text, reply, known, context), context);
    turns++;
    isLeft = more || taken < events.length;
  }
  return { kind: "done", result: { turns, end: "lost" } };
}

/** What a turn was told: whole events, or a part of one. */
interface Known {
  readonly whole: readonly EventDoc[];
  readonly part: EventDoc | undefined;
  readonly told: number;
}

/** A turn over the same events is the same turn: what follows from it is written once, also after a crash in between. */
function nameOf({ whole, part, told }: Known): string {
  if (part) return `events-${part._id}-${told}`;
  const [first] = whole;
  return first ? `events-${first._id}-${whole.at(-1)?._id}` : randomUUID();
}

function turn(deps: HeartbeatDeps, prompt: string, lost: AbortSignal, context: RunContext): Promise<TurnEnd> {
  const { stores, runner, session, defaults } = deps;
  const { timings } = context;
  const work = async (signal: AbortSignal) => {
    const read = () => stores.messages.findRecent(MAIN_SESSION, session);
    const history = await retryWhileMongoIsDown(read, { signal, timings });
    const messages = turnMessages(defaults.systemPrompt, history, prompt);
    const { model, thinking } = defaults;
    return (await runner.run({ kind: "heartbeat", messages, model, thinking, env: {} }, signal)).text;
  };
  return boundTurn(work, { timeoutMs: defaults.timeoutSeconds * 1_000, stopping: context.signal, lost });
}

async function conclude(
  { stores, delivery, isWorthDelivering, deliver }: HeartbeatDeps,
  turnId: string,
  prompt: string,
  reply: string,
  { whole, part, told }: Known,
  { clock }: RunContext,
): Promise<void> {
  const wanted = { _id: turnId, runId: null, channel: "last", to: null, text: reply };
  const noted = isWorthDelivering(reply) ? await addDelivery(stores, wanted, delivery) : null;
  const turn = { sessionKey: MAIN_SESSION, told: prompt, outside: false, answered: reply, endedAt: clock.now() };
  await stores.messages.addTurn(turnId, turn);
  if (part) await stores.events.noteTold(part._id, told);
  else await stores.events.take(whole.map(({ _id }) => _id));
  if (noted) await deliver(noted);
}
