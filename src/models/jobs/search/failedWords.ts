import type { mongo } from "mongoose";
import { lowerAscii } from "../../db/nameSearch.ts";

/*
 * The words of the message of a failed job, by which the search finds it; other jobs have none. They are cut from the message by
 * MongoDB where an update may take over a stored message, and here where the message is part of the request.
 */

const WORDS = /[\p{L}\p{N}\p{M}]{1,64}/gu;
/** Limits for the index: the first characters of a message, and the first words among them. */
const MAX_CHARS = 2_000;
const MAX_WORDS = 64;

const text = { $toLower: { $substrCP: ["$message", 0, MAX_CHARS] } };
const matches = { $slice: [{ $regexFindAll: { input: text, regex: WORDS.source } }, MAX_WORDS] };

const words = { $setUnion: { $map: { input: matches, in: "$$this.match" } } };

/** The expression for the words of the stored message. Belongs to a stage after those that set the status and the message. */
export const FAILED_WORDS = { $cond: [{ $and: [{ $eq: ["$status", "failed"] }, "$message"] }, words, "$$REMOVE"] };

/** Returns the expression for the words of a message that an update sets, if the update does not change the status. */
export function failedWordsIn(message: string): mongo.Document {
  const start = Array.from(message.slice(0, 2 * MAX_CHARS)).slice(0, MAX_CHARS);
  const found = lowerAscii(start.join("")).match(WORDS) ?? [];
  const literal = { $literal: [...new Set(found.slice(0, MAX_WORDS))] };
  return { $cond: [{ $eq: ["$status", "failed"] }, literal, "$$REMOVE"] };
}
