import * as f from "../../db/fields.ts";

/** Successive lines with the same time and level, joined by line feeds. */
const LogPart = f.object({ at: f.date, level: f.nullable(f.string), text: f.string });
export type LogPart = f.Stored<typeof LogPart>;

/** Lines that are not kept, and their bytes. */
const Dropped = f.object({ lines: f.number, bytes: f.number });
export type Dropped = f.Stored<typeof Dropped>;

/**
 * A part of a step's log. Chunks are numbered; only the newest one is open, and takes further lines. Each knows how many lines
 * and bytes of the log came before it, so that no line is counted again.
 */
export const LogChunkDoc = f.object({
  _id: f.objectId,
  /** The internal id of the job, so that a job that is created again under its id starts without a log. */
  job: f.objectId,
  stepKey: f.string,
  n: f.number,
  /** Present while the chunk takes further lines. */
  open: f.optional(f.boolean),
  /** The number of writes. A write names the one that it follows: see appendLogs.ts. */
  writes: f.number,
  /** The lines and bytes of the log before this chunk, a byte for each line feed included. */
  linesBefore: f.number,
  bytesBefore: f.number,
  lines: f.number,
  bytes: f.number,
  parts: f.listOf(LogPart),
  /** The lines that were dropped on arrival since the log began: long lines, and lines for which the job had no room. */
  refused: Dropped,
  updatedAt: f.date,
});
export type LogChunkDoc = f.Stored<typeof LogChunkDoc>;

export const logChunkSchema = f
  .schemaOf(LogChunkDoc)
  .index({ job: 1, stepKey: 1, n: 1 }, { unique: true })
  .index({ job: 1, stepKey: 1 }, { name: "open", unique: true, partialFilterExpression: { open: true } });

/** The kept bytes of all logs of a job. */
export const LogSizeDoc = f.object({
  /** The internal id of the job. */
  _id: f.objectId,
  bytes: f.number,
});
export type LogSizeDoc = f.Stored<typeof LogSizeDoc>;

export const logSizeSchema = f.schemaOf(LogSizeDoc);

/** The first bytes of a step's log that are kept. */
export const HEAD_BYTES = 64 * 1024;
/** The last bytes of a step's log that are kept. */
export const TAIL_BYTES = 192 * 1024;
/** Maximum kept bytes of all logs of a job. */
export const MAX_JOB_LOG_BYTES = 4 * 1024 * 1024;

/** Maximum bytes of a chunk. A chunk is deleted as a whole, so up to this much more than the tail is stored. */
export const CHUNK_BYTES = 64 * 1024;
/** Maximum parts of a chunk, each of which costs some fifty bytes. */
export const CHUNK_PARTS = 2_000;

/** Returns the kept bytes of a log of a given size. */
export const keptBytes = (bytes: number): number => Math.min(bytes, HEAD_BYTES + TAIL_BYTES);

/** Returns the size of a line in the log, with its line feed. */
export const lineBytes = (text: string): number => Buffer.byteLength(text) + 1;
