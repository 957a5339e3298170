import type { mongo } from "mongoose";
import type { LogLine as LineView, LogPage } from "../../../wire/log.ts";
import { HEAD_BYTES, type LogChunkDoc, lineBytes, TAIL_BYTES } from "./logChunk.ts";
import type { Logs } from "./logs.ts";

/** The lines to read after one of them: the last ones with `tail`, else the first ones. */
export interface LogQuery {
  readonly after: number;
  readonly limit: number;
  readonly tail?: number | undefined;
}

/** Reads lines of a step's log. @param job the internal id of the job */
export async function readLog(
  { collections }: Logs,
  job: mongo.ObjectId,
  stepKey: string,
  { after, limit, tail }: LogQuery,
): Promise<LogPage> {
  const chunks = await collections.chunks.find({ job, stepKey }, { sort: { n: 1 } });
  const newest = chunks.at(-1);
  if (!newest) return { lines: [], next: 0, dropped: { lines: 0, bytes: 0 } };
  const total = newest.bytesBefore + newest.bytes;
  const next = newest.linesBefore + newest.lines;
  const { refused } = newest;
  const { lines, bytes } = keptLines(chunks, total);
  const later = lines.slice(firstAfter(lines, after));
  const asked = tail === undefined ? later.slice(0, limit) : later.slice(-tail);
  return {
    lines: asked.map((line) => ({ ...line, at: line.at.toISOString() })),
    next,
    dropped: { lines: next - lines.length + refused.lines, bytes: total - bytes + refused.bytes },
  };
}

/** Returns the number of the newest line of a log. */
export async function readLastSeq({ collections }: Logs, job: mongo.ObjectId, stepKey: string): Promise<number> {
  const projection = { linesBefore: 1, lines: 1 } as const;
  const newest = await collections.chunks.findOne({ job, stepKey }, { projection, sort: { n: -1 } });
  return newest ? newest.linesBefore + newest.lines : 0;
}

interface KeptLine extends Omit<LineView, "at"> {
  readonly at: Date;
}

/** Returns the lines of chunks that lie wholly in the kept beginning or in the kept end. @param total the bytes of the log */
function keptLines(chunks: readonly LogChunkDoc[], total: number): { lines: KeptLine[]; bytes: number } {
  const isWhole = total <= HEAD_BYTES + TAIL_BYTES;
  const lines: KeptLine[] = [];
  let kept = 0;
  for (const { linesBefore, bytesBefore, parts } of chunks) {
    let seq = linesBefore;
    let position = bytesBefore;
    for (const { at, level, text } of parts) {
      for (const line of text.split("\n")) {
        seq++;
        const size = lineBytes(line);
        if (isWhole || position + size <= HEAD_BYTES || position >= total - TAIL_BYTES) {
          lines.push({ seq, at, level, text: line });
          kept += size;
        }
        position += size;
      }
    }
  }
  return { lines, bytes: kept };
}

/** Returns the index of the first line after the one with a number. */
function firstAfter(lines: readonly KeptLine[], after: number): number {
  const index = lines.findIndex(({ seq }) => seq > after);
  return index === -1 ? lines.length : index;
}

/** A line of one of a job's steps. */
export interface JobLogLine {
  readonly stepKey: string;
  readonly at: Date;
  readonly level: string | null;
  readonly text: string;
}

/**
 * Reads the last lines of a job, of all its steps together.
 * @param job the internal id of the job
 * @returns the lines, oldest first; none for a job without a log
 */
export async function readLastLines({ collections }: Logs, job: mongo.ObjectId, count: number): Promise<JobLogLine[]> {
  const chunks = await collections.chunks.aggregate<Pick<LogChunkDoc, "stepKey" | "parts">>([
    { $match: { job } },
    { $project: { stepKey: 1, updatedAt: 1, n: 1, parts: { $slice: ["$parts", -count] } } },
    { $sort: { updatedAt: -1, n: -1 } },
    { $limit: count + 1 },
  ]);
  const lines = chunks.reverse().flatMap(({ stepKey, parts }) =>
    parts.flatMap(({ at, level, text }) =>
      text
        .split("\n")
        .slice(-count)
        .map((line) => ({ stepKey, at, level, text: line })),
    ),
  );
  // the sort is stable: lines of the same time stay in their order
  return lines.sort((one, other) => one.at.getTime() - other.at.getTime()).slice(-count);
}
