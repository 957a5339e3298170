import { setTimeout as pause } from "node:timers/promises";
import { mongo } from "mongoose";
import { AppError } from "../../../shared/errors.ts";
import type { ChangeNotifier } from "../../../shared/queue/changeStream.ts";
import type { Documents } from "../../db/documents.ts";
import { isDuplicateKey } from "../../db/mongoErrors.ts";
import {
  CHUNK_BYTES,
  CHUNK_PARTS,
  HEAD_BYTES,
  type LogChunkDoc,
  type LogSizeDoc,
  MAX_JOB_LOG_BYTES,
  TAIL_BYTES,
} from "./logChunk.ts";
import type { LogLines } from "./logLine.ts";
import { type Newest, type Plan, planAppend } from "./planAppend.ts";

/** Lines for the log of a step that exists. */
export interface LogAppend extends LogLines {
  /** The internal id of the job. */
  readonly job: mongo.ObjectId;
  readonly jobId: string;
  readonly stepKey: string;
}

/** Limits for a batch of appends. Two batches never have the same job, so that its size is counted right. */
export const LOG_BATCHES = {
  maxBatchSize: 500,
  maxBatchWeight: 8 * 1024 * 1024,
  weightOf: ({ lines }: LogAppend): number => lines.reduce((sum, { text }) => sum + 100 + 3 * text.length, 0),
  keyOf: ({ jobId }: LogAppend): string => jobId,
};

export interface LogCollections {
  readonly chunks: Documents<LogChunkDoc>;
  readonly sizes: Documents<LogSizeDoc>;
}

/** The appends of a batch to one log, as one. */
interface Append extends LogAppend {
  readonly updatedAt: Date;
}

/** Maximum attempts to append to a log that other processes append to at the same time. */
const MAX_ATTEMPTS = 30;

const NEWEST = { parts: 0, updatedAt: 0 } as const;
const PART_COUNT = { $addFields: { partCount: { $size: "$parts" } } };

/**
 * Appends lines to logs, in the order in which they arrived. A log costs one write, which names the state that it follows: if
 * another process has written meanwhile, the state is read again. Every 64 KiB a new chunk begins, and one that lies between the
 * kept beginning and the kept end is deleted.
 * @returns the errors of the logs that could not be written: the lines of the others are stored, and must not be written again
 */
export async function appendLogs(
  collections: LogCollections,
  changes: ChangeNotifier,
  appends: readonly LogAppend[],
  now: Date,
): Promise<(Error | undefined)[]> {
  const failed = new Map<string, Error>();
  let left = [...Map.groupBy(appends, keyOf).values()].map(
    (group): Append => ({
      ...(group[0] as LogAppend),
      lines: group.flatMap(({ lines }) => lines),
      cutBytes: group.reduce((sum, { cutBytes }) => sum + cutBytes, 0),
      updatedAt: now,
    }),
  );
  for (let attempt = 1; left.length > 0; attempt++) {
    if (attempt > MAX_ATTEMPTS) {
      for (const one of left) failed.set(keyOf(one), tooBusy());
      break;
    }
    if (attempt > 1) await pause(Math.random() * 5 * attempt);
    left = await appendOnce(collections, changes, left, failed);
  }
  return appends.map((one) => failed.get(keyOf(one)));
}

const tooBusy = () =>
  new AppError("unavailable", {
    detail: "Several processes append to this log at the same time. Send the same request again.",
    retryAfterSeconds: 1,
  });

/**
 * @param failed receives the errors of the logs that could not be written
 * @returns the appends that another process has forestalled
 */
async function appendOnce(
  collections: LogCollections,
  changes: ChangeNotifier,
  appends: readonly Append[],
  failed: Map<string, Error>,
): Promise<Append[]> {
  const jobs = [...new Map(appends.map(({ job }) => [job.toHexString(), job])).values()];
  const keys = [...new Set(appends.map(({ stepKey }) => stepKey))];
  const { chunks, sizes } = collections;
  const [open, stored] = await Promise.all([
    chunks.aggregate<Newest>([
      { $match: { job: { $in: jobs }, stepKey: { $in: keys }, open: true } },
      PART_COUNT,
      { $project: NEWEST },
    ]),
    sizes.find({ _id: { $in: jobs } }),
  ]);
  const newest = new Map(open.map((chunk) => [keyOf(chunk), chunk]));
  const bytesOf = new Map(stored.map(({ _id, bytes }) => [_id.toHexString(), bytes]));
  const plans = await Promise.all(
    appends.map(async (append) => {
      const last = newest.get(keyOf(append)) ?? (await readNewest(chunks, append));
      // No other call comes between the two lines.
      const job = append.job.toHexString();
      const plan = planAppend(append, last, MAX_JOB_LOG_BYTES - (bytesOf.get(job) ?? 0));
      bytesOf.set(job, (bytesOf.get(job) ?? 0) + plan.growth);
      return { append, last, plan };
    }),
  );
  const growths = plans.map(({ append: { job }, plan: { growth } }) => ({ job, bytes: growth }));
  const [, ...done] = await Promise.all([
    grow(sizes, growths),
    ...plans.map(({ append, last, plan }) =>
      write(chunks, changes, append, last, plan).catch((error: Error) => {
        failed.set(keyOf(append), error);
        return false;
      }),
    ),
  ]);
  await grow(
    sizes,
    growths.filter((_, i) => !done[i]).map(({ job, bytes }) => ({ job, bytes: -bytes })),
  );
  return appends.filter((append, i) => !done[i] && !failed.has(keyOf(append)));
}

/** Adds to the kept bytes of jobs. */
async function grow(
  sizes: LogCollections["sizes"],
  growths: readonly { job: mongo.ObjectId; bytes: number }[],
): Promise<void> {
  const writes = growths
    .filter(({ bytes }) => bytes !== 0)
    .map(({ job, bytes }) => ({ updateOne: { filter: { _id: job }, update: { $inc: { bytes } }, upsert: true } }));
  if (writes.length > 0) await sizes.bulkWrite(writes, { ordered: false });
}

const keyOf = ({ job, stepKey }: Pick<LogChunkDoc, "job" | "stepKey">): string => `${job.toHexString()}${stepKey}`;

/** Reads the newest chunk of a log without an open one: it is new, or a process died before it began another chunk. */
async function readNewest(chunks: Documents<LogChunkDoc>, { job, stepKey }: Append): Promise<Newest | undefined> {
  const [newest] = await chunks.aggregate<Newest>([
    { $match: { job, stepKey } },
    { $sort: { n: -1 } },
    { $limit: 1 },
    PART_COUNT,
    { $project: NEWEST },
  ]);
  return newest;
}

/** @returns false if another process has written first */
async function write(
  chunks: LogCollections["chunks"],
  changes: ChangeNotifier,
  append: Append,
  last: Newest | undefined,
  plan: Plan,
): Promise<boolean> {
  const { jobId, stepKey } = append;
  const isDone = await (fits(last, plan) ? push(chunks, append, last, plan) : begin(chunks, append, last, plan));
  const seq = last ? last.linesBefore + last.lines : 0;
  const to = seq + plan.lines;
  if (isDone && to > seq) changes.notify({ kind: "log", jobId, stepKey, from: seq + 1, to });
  return isDone;
}

/** Returns whether lines fit into the newest chunk. */
function fits(last: Newest | undefined, { groups: [first, ...more] }: Plan): last is Newest {
  if (!last?.open || !first || more.length > 0) return false;
  return last.bytes + first.bytes <= CHUNK_BYTES && last.partCount + first.parts.length <= CHUNK_PARTS;
}

async function push(
  chunks: Documents<LogChunkDoc>,
  { updatedAt }: Append,
  { _id, writes }: Newest,
  { groups, lines, bytes, refused }: Plan,
): Promise<boolean> {
  const { matchedCount } = await chunks.updateOne(
    { _id, writes, open: true },
    {
      $push: { parts: { $each: groups[0]?.parts ?? [] } },
      $inc: { writes: 1, lines, bytes, "refused.lines": refused.lines, "refused.bytes": refused.bytes },
      $set: { updatedAt },
    },
  );
  return matchedCount === 1;
}

/** Closes the newest chunk, and writes lines to new ones. */
async function begin(
  chunks: Documents<LogChunkDoc>,
  { job, stepKey, updatedAt }: Append,
  last: Newest | undefined,
  { groups, bytes, refused }: Plan,
): Promise<boolean> {
  if (last?.open) {
    const { _id, writes } = last;
    const closed = await chunks.updateOne({ _id, writes, open: true }, { $unset: { open: 1 }, $inc: { writes: 1 } });
    if (closed.matchedCount === 0) return false;
  }
  const before = { lines: last ? last.linesBefore + last.lines : 0, bytes: last ? last.bytesBefore + last.bytes : 0 };
  const documents = groups.map((group, i): LogChunkDoc => {
    const chunk = {
      _id: new mongo.ObjectId(),
      job,
      stepKey,
      n: (last ? last.n + 1 : 0) + i,
      ...(i === groups.length - 1 && { open: true }),
      writes: 0,
      linesBefore: before.lines,
      bytesBefore: before.bytes,
      ...group,
      refused: {
        lines: (last?.refused.lines ?? 0) + refused.lines,
        bytes: (last?.refused.bytes ?? 0) + refused.bytes,
      },
      updatedAt,
    };
    before.lines += group.lines;
    before.bytes += group.bytes;
    return chunk;
  });
  try {
    await chunks.insertMany(documents);
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
  const end = (last ? last.bytesBefore + last.bytes : 0) + bytes;
  if (end > HEAD_BYTES + TAIL_BYTES) await deleteMiddle(chunks, job, stepKey, end);
  return true;
}

/** Deletes the chunks of a log between the kept beginning and the kept end. If it fails, the next new chunk repeats it. */
async function deleteMiddle(
  chunks: Documents<LogChunkDoc>,
  job: mongo.ObjectId,
  stepKey: string,
  end: number,
): Promise<void> {
  const isBeforeTail = { $lte: [{ $add: ["$bytesBefore", "$bytes"] }, end - TAIL_BYTES] };
  await chunks
    .deleteMany({ job, stepKey, bytesBefore: { $gte: HEAD_BYTES }, open: { $exists: false }, $expr: isBeforeTail })
    .catch(() => {});
}
