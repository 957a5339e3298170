import type { RunDoc } from "../run.ts";
import type { Stores } from "../stores.ts";
import { addDelivery, type DeliverySettings, type NotedDelivery } from "./addDelivery.ts";
import { holderOf } from "./claimRun.ts";
import { trackEnded } from "./trackRun.ts";

const SUMMARY_CHARS = 600;

/** What is to be put on the queues now that a run is settled. */
export interface Settled {
  readonly nextRunId: string | null;
  readonly delivery: NotedDelivery | null;
  readonly wake: boolean;
}

export interface SettleSettings extends DeliverySettings {
  /** Whether a reply is worth delivering: not empty, and more than an acknowledgement. */
  isWorthDelivering(reply: string): boolean;
}

/**
 * Writes what follows from a run's end: transcript, summary for the main session, delivery; then frees its session.
 * Each is named after the run and its round, so that doing it twice, after a crash in the middle, is doing it once.
 * @param run one that has ended and is not settled
 */
export async function settleRun(stores: Stores, run: RunDoc, settings: SettleSettings): Promise<Settled> {
  const { messages, events, sessions, runs } = stores;
  const id = `${run._id}-${run.round}`;
  if (run.status === "completed" && run.reply !== null && run.request) {
    const { sessionKey, reply: answered, endedAt } = run;
    const { message: told, allowUnsafe } = run.request;
    const outside = !allowUnsafe;
    await messages.addTurn(id, { sessionKey, told, outside, answered, endedAt: endedAt ?? run.createdAt });
  }
  await trackEnded(stores, run);
  const wake = (run.request ?? run.mapped)?.wakeMode === "now";
  await events.add([{ _id: `run-${id}`, text: summary(run), source: `run ${run._id}`, wake }]);
  const delivery = await deliver(stores, run, id, settings);
  await sessions.release(run.sessionKey, holderOf(run));
  await runs.markSettled(run._id, run.round);
  const next = await runs.findNext(run.sessionKey);
  return { nextRunId: next?._id ?? null, delivery, wake };
}

async function deliver(
  stores: Stores,
  { _id: runId, request, reply, status }: RunDoc,
  id: string,
  settings: SettleSettings,
): Promise<NotedDelivery | null> {
  if (status !== "completed" || !request?.deliver || reply === null || !settings.isWorthDelivering(reply)) return null;
  const { channel, to } = request;
  return addDelivery(stores, { _id: id, runId, channel, to, text: reply }, settings);
}

/** What the main session is told of a run: its name, how it ended, and how its reply begins. */
function summary({ name, status, attempts, error, reply }: RunDoc): string {
  const title = `${name ?? "Hook"}: ${status}`;
  if (status === "completed") return `${title}\n${(reply ?? "").slice(0, SUMMARY_CHARS)}`;
  const tries = attempts === 0 ? "" : ` after ${attempts} ${attempts === 1 ? "try" : "tries"}`;
  return `${title}${tries} (${error?.code}): ${error?.message}`;
}
