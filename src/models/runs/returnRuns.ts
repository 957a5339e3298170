import type { IdempotencyKeys } from "../idempotencyKey.ts";
import { depthField } from "../notes/depth.ts";
import type { ReturnTo } from "../notes/returnTo.ts";
import type { AgentRequest, RunDoc } from "./run.ts";
import type { RunStores } from "./runStores.ts";
import { type SessionSettings, settingsOfSession } from "./sessionSettings.ts";

/** Maximum jobs of one return run. */
const MAX_JOBS = 50;
/** Maximum characters of the name of a run. */
const MAX_NAME_CHARS = 1_024;

interface ReturnStores extends Pick<RunStores, "runs" | "sessions"> {
  readonly idempotencyKeys: IdempotencyKeys;
}

/** A transition of a job, for the session that it wakes. */
export interface Return {
  readonly to: ReturnTo;
  /** The id of the transition's note. */
  readonly id: string;
  readonly jobId: string;
  /** The internal id of the job in hexadecimal. */
  readonly internalId: string;
  readonly event: NonNullable<RunDoc["returnOf"]>[number]["event"];
  readonly at: Date;
  /** The name of the job for people. */
  readonly title: string;
  /** Says, outside of the fence, what has happened. */
  readonly sentence: string;
  /** The text of the job about it, from outside. */
  readonly text: string;
}

/** How returns become runs. */
export interface ReturnSettings {
  /** How long after the first transition others join its run, in milliseconds. */
  readonly gatherMs: number;
  /** The sentences about several transitions, which follow their number: all of them ends, or others too. */
  readonly several: { readonly ends: string; readonly others: string };
  /** The settings of a session whose runs are no longer stored. */
  readonly defaults: SessionSettings;
  readonly now: Date;
}

/** Returns whether a session has had a turn or waits for its first one, and was not deleted since. */
export async function sessionExists(
  { runs, sessions }: Pick<RunStores, "runs" | "sessions">,
  sessionKey: string,
): Promise<boolean> {
  return (await sessions.collection.exists({ _id: sessionKey })) || runs.collection.exists({ open: true, sessionKey });
}

/**
 * Adds a transition to the session that it wakes: to a return run that gathers, or to a new one. The call may be repeated
 * after a crash, also by two processes at once: each transition is in exactly one run.
 *
 * The id of the run is reserved for the transition before anything is written. A run that has started meanwhile, or is full,
 * never takes another transition, so that the next attempt reserves another run, for every process the same.
 * @returns the run; null if the session no longer exists
 */
export async function addReturn(
  stores: ReturnStores,
  added: Return,
  settings: ReturnSettings,
): Promise<{ runId: string; isNew: boolean } | null> {
  const { idempotencyKeys: keys, runs } = stores;
  for (let attempt = 0; ; attempt++) {
    const key = `return ${JSON.stringify([added.jobId, added.internalId, added.id, attempt])}`;
    const wanted = { runId: (await findGathering(stores, added)) ?? (await keys.deriveId(key)) };
    const { runId } = await keys.reserve(key, null, wanted);
    for (let state = await join(stores, runId, added, settings); state !== "closed"; ) {
      if (state === "joined") return { runId, isNew: false };
      if (!(await sessionExists(stores, added.to.sessionKey))) return null;
      const isNew = (await runs.accept([await newReturn(stores, runId, added, settings)])) > 0;
      if (isNew) return { runId, isNew };
      state = await join(stores, runId, added, settings); // another process has stored it
    }
  }
}

/** Matches the return runs that still take a transition. A retried run has started before, as `startedAt` shows. */
const taking = ({ id, jobId, at, to }: Return) => ({
  status: "queued" as const,
  startedAt: null,
  gathersUntil: { $gte: at },
  "returnOf.id": { $ne: id },
  "returnOf.jobId": { $ne: jobId },
  [`returnOf.${MAX_JOBS - 1}`]: { $exists: false },
  "request.deliver": to.deliver,
  "request.channel": to.channel,
  "request.to": to.to,
});

/** Finds the return run of a session that gathers now. */
async function findGathering({ runs }: ReturnStores, added: Return): Promise<string | undefined> {
  const query = { open: true, sessionKey: added.to.sessionKey, kind: "return" as const, ...taking(added) };
  const found = await runs.collection.findOne(query, { projection: { _id: 1 }, sort: { order: -1 } });
  return found?._id;
}

/** Adds a transition to a run. @returns `closed` if the run never takes it */
async function join(
  { runs }: ReturnStores,
  runId: string,
  added: Return,
  { several }: ReturnSettings,
): Promise<"joined" | "missing" | "closed"> {
  const { id, jobId, event, text, to } = added;
  const hasOnlyEnds = { $setIsSubset: ["$returnOf.event", ["completed", "failed"]] };
  const sentence = { $cond: [hasOnlyEnds, several.ends, several.others] };
  const depth = to.depth ? { depth: { $max: ["$depth", to.depth] } } : {};
  const update = [
    {
      $set: {
        returnOf: { $concatArrays: ["$returnOf", [{ $literal: { id, jobId, event } }]] },
        "request.message": { $concat: ["$request.message", "\n\n", { $literal: text }] },
        chain: { $max: ["$chain", chainOf(to)] },
        ...depth,
      },
    },
    { $set: { "request.instructions": { $concat: [{ $toString: { $size: "$returnOf" } }, sentence] } } },
  ];
  const { matchedCount } = await runs.collection.updateOne({ _id: runId, ...taking(added) }, update);
  if (matchedCount === 1) return "joined";
  const run = await runs.collection.findOne({ _id: runId }, { projection: { returnOf: 1 } });
  if (!run) return "missing";
  return run.returnOf?.some((one) => one.id === id) ? "joined" : "closed";
}

const chainOf = ({ chain = 0 }: ReturnTo): number => chain + 1;

/** Returns a run about a transition. It has the settings of the newest run of its session. */
async function newReturn(
  { runs }: ReturnStores,
  runId: string,
  { to, id, jobId, event, at, title, sentence, text }: Return,
  { gatherMs, defaults, now }: ReturnSettings,
) {
  const { sessionKey, deliver, channel } = to;
  const { singleUse, settings } = await settingsOfSession({ runs }, sessionKey, defaults);
  const request: AgentRequest = {
    message: text,
    wakeMode: "next-heartbeat",
    deliver,
    channel,
    to: to.to,
    ...settings,
    instructions: sentence,
  };
  return {
    _id: runId,
    kind: "return" as const,
    name: `Return of ${title}`.slice(0, MAX_NAME_CHARS).toWellFormed(),
    sessionKey,
    singleUse,
    mapped: null,
    request,
    returnOf: [{ id, jobId, event }],
    gathersUntil: new Date(at.getTime() + gatherMs),
    notBefore: new Date(now.getTime() + gatherMs),
    chain: chainOf(to),
    ...depthField(to.depth),
  };
}
