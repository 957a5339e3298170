import { type AddedDelivery, addDelivery, type DeliverySettings } from "../deliveries/addDelivery.ts";
import { turnOf } from "./acquireRun.ts";
import { markedReply } from "./cutOffReply.ts";
import { ownWords, type RunDoc } from "./run.ts";
import type { RunStores } from "./runStores.ts";
import { trackEnded } from "./trackRun.ts";

/** Maximum characters of a reply in the run's summary. */
const SUMMARY_CHARS = 600;

/** The id of a run's summary is this prefix and the id of the delivery of its reply, if there is one. */
export const SUMMARY_PREFIX = "run-";

/** The work to enqueue after a run is finalized. */
export interface Finalized {
  readonly nextRunId: string | null;
  readonly delivery: AddedDelivery | null;
  /** Whether the main session takes a turn at once. */
  readonly wake: boolean;
}

/** The stores of a run's end. The kept request of the run, if there is one, records how its run ended. */
interface FinalizeStores extends RunStores {
  readonly hookRequests: {
    recordRun(requestId: string, runId: string, end: "completed" | "failed"): Promise<void>;
  };
}

export interface FinalizeSettings extends DeliverySettings {
  /** Returns whether a reply is worth delivering: not empty, and more than an acknowledgement. */
  isWorthDelivering(reply: string): boolean;
}

/**
 * Finalizes a run that has ended: writes its transcript, its summary for the main session and its delivery, then releases its
 * session. Each record is named after the run and its round, so that a repetition after a crash writes nothing twice.
 */
export async function finalizeRun(stores: FinalizeStores, run: RunDoc, settings: FinalizeSettings): Promise<Finalized> {
  const { sessions, runs, hookRequests } = stores;
  const { _id, requestId, status } = run;
  const end = status === "failed" ? "failed" : "completed";
  const [delivery] = await Promise.all([
    // nobody but its kept request and the rules is concerned by a report that could not be made
    run.kind === "job" ? null : reportEnd(stores, run, settings),
    addToTranscript(stores, run),
    requestId !== undefined && hookRequests.recordRun(requestId, _id, end),
  ]);
  await Promise.all([sessions.releaseTurn(turnOf(run)), runs.markFinalized(run)]);
  const next = await runs.findNext(run.sessionKey);
  return { nextRunId: next?._id ?? null, delivery, wake: wakesMain(run) };
}

/** Returns the id of the records that follow from this end of the run. */
const recordId = ({ _id, round }: RunDoc): string => `${_id}-${round}`;

const wakesMain = ({ kind, request, mapped }: RunDoc): boolean =>
  kind !== "job" && (request ?? mapped)?.wakeMode === "now";

/** Ends the job, then writes the summary and the delivery, so that the job has ended for readers of the summary. */
async function reportEnd(stores: RunStores, run: RunDoc, settings: FinalizeSettings): Promise<AddedDelivery | null> {
  await trackEnded(stores, run);
  const event = { text: summary(run), source: `run ${run._id}`, wake: wakesMain(run), depth: run.depth };
  await stores.mainEvents.add([{ _id: SUMMARY_PREFIX + recordId(run), ...event }]);
  return deliver(stores, run, settings);
}

/** Adds the prompt and the reply of a completed run to the session's transcript. */
async function addToTranscript({ messages }: RunStores, run: RunDoc): Promise<void> {
  const { sessionKey, status, reply, request, endedAt, returnOf } = run;
  if (status !== "completed" || reply === null || !request) return;
  const { message: prompt, instructions: sentence = "", allowUnsafe } = request;
  const returned = returnOf && { sentence, of: returnOf.map(({ jobId, event }) => ({ jobId, event })) };
  const turn = { sessionKey, prompt, outside: !allowUnsafe, reply, endedAt: endedAt ?? run.createdAt, returned };
  await messages.addTurn(recordId(run), turn);
}

async function deliver(stores: RunStores, run: RunDoc, settings: FinalizeSettings): Promise<AddedDelivery | null> {
  const { _id: runId, sessionKey, request, reply, status } = run;
  if (status !== "completed" || !request?.deliver || reply === null || !settings.isWorthDelivering(reply)) return null;
  const { channel, to } = request;
  const text = markedReply({ reply, isCutOff: run.replyCutOff });
  return addDelivery(stores, { _id: recordId(run), runId, sessionKey, channel, to, text, depth: run.depth }, settings);
}

/** Returns the summary of a run for the main session: its name, how it ended, and the beginning of its reply. */
function summary({ name, status, attempts, error, reply, replyCutOff }: RunDoc): string {
  const title = `${name ?? "Hook"}: ${status}`;
  const note = replyCutOff ? ", but the reply was cut off at the length limit of the model" : "";
  if (status === "completed") return `${title}${note}\n${(reply ?? "").slice(0, SUMMARY_CHARS)}`;
  const tries = attempts === 0 ? "" : ` after ${attempts} ${attempts === 1 ? "try" : "tries"}`;
  return `${title}${tries} (${error?.code}): ${error && ownWords(error).message}`;
}
