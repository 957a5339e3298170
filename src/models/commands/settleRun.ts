import { hasSessionAlone, type RunDoc } from "../run.ts";
import type { Stores } from "../stores.ts";
import { addDelivery, type DeliverySettings, type NotedDelivery } from "./addDelivery.ts";
import { turnOf } from "./claimRun.ts";
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
 * Writes what follows from the ends of runs: transcript, summary for the main session, delivery; then frees their sessions.
 * Each is named after the run and its round, so that doing it twice, after a crash in the middle, is doing it once.
 * @param ended runs that have ended and are not settled
 * @throws AppError unavailable; what is wrong with one of them
 */
export async function settleRuns(
  stores: Stores,
  ended: readonly RunDoc[],
  settings: SettleSettings,
): Promise<Settled[]> {
  const { sessions, runs } = stores;
  const followed = ended.map(async (run) => {
    const [delivery] = await Promise.all([tell(stores, run, settings), keep(stores, run)]);
    return delivery;
  });
  const own = ended.filter(hasSessionAlone).map(({ sessionKey }) => sessionKey);
  const [deliveries, made] = await Promise.all([Promise.all(followed), sessions.make(own)]);
  const held = ended.filter(({ sessionKey }) => !made.has(sessionKey));
  await Promise.all([sessions.release(held.map(turnOf)), runs.markSettled(ended)]);
  const next = await runs.findNextIds(ended.map(({ sessionKey }) => sessionKey)); // whose turn it has only now become
  return ended.map((run, i) => {
    return { nextRunId: next[i] ?? null, delivery: deliveries[i] ?? null, wake: wantsTurn(run) };
  });
}

/** Names what follows from this end of the run. */
const nameOf = ({ _id, round }: RunDoc): string => `${_id}-${round}`;

const wantsTurn = ({ request, mapped }: RunDoc): boolean => (request ?? mapped)?.wakeMode === "now";

/** Whoever hears the summary finds the job done. */
async function tell(stores: Stores, run: RunDoc, settings: SettleSettings): Promise<NotedDelivery | null> {
  await trackEnded(stores, run);
  const event = { text: summary(run), source: `run ${run._id}`, wake: wantsTurn(run) };
  await stores.events.add([{ _id: `run-${nameOf(run)}`, ...event }]);
  return deliver(stores, run, settings);
}

/** Writes what was said into the session's transcript. */
async function keep({ messages }: Stores, run: RunDoc): Promise<void> {
  const { sessionKey, status, reply: answered, request, endedAt } = run;
  if (status !== "completed" || answered === null || !request) return;
  const { message: told, allowUnsafe } = request;
  const turn = { sessionKey, told, outside: !allowUnsafe, answered, endedAt: endedAt ?? run.createdAt };
  await messages.addTurn(nameOf(run), turn);
}

async function deliver(stores: Stores, run: RunDoc, settings: SettleSettings): Promise<NotedDelivery | null> {
  const { _id: runId, request, reply, status } = run;
  if (status !== "completed" || !request?.deliver || reply === null || !settings.isWorthDelivering(reply)) return null;
  const { channel, to } = request;
  return addDelivery(stores, { _id: nameOf(run), runId, channel, to, text: reply }, settings);
}

/** What the main session is told of a run: its name, how it ended, and how its reply begins. */
function summary({ name, status, attempts, error, reply }: RunDoc): string {
  const title = `${name ?? "Hook"}: ${status}`;
  if (status === "completed") return `${title}\n${(reply ?? "").slice(0, SUMMARY_CHARS)}`;
  const tries = attempts === 0 ? "" : ` after ${attempts} ${attempts === 1 ? "try" : "tries"}`;
  return `${title}${tries} (${error?.code}): ${error?.message}`;
}
