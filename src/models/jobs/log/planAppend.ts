import {
  CHUNK_BYTES,
  CHUNK_PARTS,
  type Dropped,
  keptBytes,
  type LogChunkDoc,
  type LogPart,
  lineBytes,
} from "./logChunk.ts";
import type { LogLine, LogLines } from "./logLine.ts";

/** The state of a log's newest chunk, without its text. */
export type Newest = Omit<LogChunkDoc, "parts" | "updatedAt"> & { readonly partCount: number };

/** The writes of an append. */
export interface Plan {
  readonly groups: readonly Group[];
  readonly lines: number;
  readonly bytes: number;
  readonly refused: Dropped;
  /** The bytes by which the kept logs of the job grow. */
  readonly growth: number;
}

/** Decides which lines are stored. @param room the bytes by which the kept logs of the job may grow */
export function planAppend({ lines, cutBytes }: LogLines, last: Newest | undefined, room: number): Plan {
  const before = last ? last.bytesBefore + last.bytes : 0;
  const refused = { lines: 0, bytes: cutBytes };
  let bytes = 0;
  const taken = lines.filter(({ text }) => {
    const size = lineBytes(text);
    const fits = refused.lines === 0 && keptBytes(before + bytes + size) - keptBytes(before) <= room;
    if (fits) bytes += size;
    else {
      refused.lines++;
      refused.bytes += size;
    }
    return fits;
  });
  const growth = keptBytes(before + bytes) - keptBytes(before);
  return { groups: groupsOf(taken), lines: taken.length, bytes, refused, growth };
}

/** Lines that lie in one chunk. */
interface Group {
  readonly parts: LogPart[];
  lines: number;
  bytes: number;
}

/** Splits lines into groups that fit into a chunk each; no lines are one empty group. Joins successive lines that are alike. */
function groupsOf(lines: readonly LogLine[]): Group[] {
  const groups: Group[] = [{ parts: [], lines: 0, bytes: 0 }];
  let texts: string[] = [];
  let group = groups[0] as Group;
  const closePart = () => {
    const part = group.parts.at(-1);
    if (part) part.text = texts.join("\n");
    texts = [];
  };
  for (const { at, level, text } of lines) {
    const bytes = lineBytes(text);
    const part = group.parts.at(-1);
    const isAlike = part?.level === level && part.at.getTime() === at.getTime();
    const isFull = group.bytes + bytes > CHUNK_BYTES || (!isAlike && group.parts.length === CHUNK_PARTS);
    if (isFull || !isAlike) closePart();
    if (isFull) {
      group = { parts: [], lines: 0, bytes: 0 };
      groups.push(group);
    }
    if (isFull || !isAlike) group.parts.push({ at, level, text: "" });
    texts.push(text);
    group.lines++;
    group.bytes += bytes;
  }
  closePart();
  return groups;
}
