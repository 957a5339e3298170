import { sanitizeText } from "../../shared/text/sanitizeText.ts";

/** Maximum characters of a name or an id, of a text of the job, and of its output. */
const MAX_NAME_CHARS = 256;
const MAX_TEXT_CHARS = 4_000;

/** The sentences about several transitions of jobs, which follow their number. */
export const SEVERAL = {
  ends: " jobs that this session started have ended.",
  others:
    " jobs that this session started have news: they have ended, have not been heard of for a while, or have an answer to a question.",
} as const;

/** Returns the sentence, outside of the fence, about a transition of a job. @param silentSeconds for a stale job */
export function returnSentence(event: "completed" | "failed" | "stale" | "gate", silentSeconds: number): string {
  const what = {
    completed: "has completed",
    failed: "has failed",
    stale: `has not been heard of for ${inWords(silentSeconds)}`,
    gate: "has an answer to its question",
  }[event];
  return `A job that this session started ${what}.`;
}

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** Returns a duration in its largest unit that needs no fraction: `15 minutes`. */
function inWords(seconds: number): string {
  const [unit, size] = UNITS.find(([, size]) => seconds % size === 0) ?? UNITS[3];
  const count = seconds / size;
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** The text of a job about a transition. Everything but the numbers comes from outside. */
export interface ReturnedJob {
  readonly title: string;
  readonly jobId: string;
  readonly status: string;
  readonly durationMs: number;
  readonly message: string | null;
  readonly question: {
    readonly title: string;
    readonly action: string | null;
    readonly answeredBy: string | null;
    /** The values that were filled in. */
    readonly content: object | null;
  } | null;
  readonly output: object | null;
  /** The last lines of its log. */
  readonly log: readonly string[];
  readonly link: string;
}

/** Returns what a job says about a transition as text, which goes into the fence. */
export function returnText({
  title,
  jobId,
  status,
  durationMs,
  message,
  question,
  output,
  log,
  link,
}: ReturnedJob): string {
  const lines = [
    `Job: ${oneLine(title)}`,
    `Id: ${oneLine(jobId)}`,
    `Status: ${status}`,
    `Duration: ${Math.round(durationMs / 1_000)} s`,
    ...part("Message", message),
    ...(question
      ? [
          `Question: ${oneLine(question.title)}`,
          `Answer: ${question.action ?? "none"}${question.answeredBy === null ? "" : `, by ${oneLine(question.answeredBy)}`}`,
          ...part("Content", question.content && JSON.stringify(question.content)),
        ]
      : []),
    ...part("Output", output && JSON.stringify(output)),
    ...part("Last lines of the log", endOf(log)),
    `Link: ${oneLine(link)}`,
  ];
  return lines.join("\n");
}

/** Returns the last lines of a log, under their title; null without any. */
const endOf = (lines: readonly string[]): string | null =>
  lines.length > 0
    ? `\n${lines
        .join("\n")
        .slice(1 - MAX_TEXT_CHARS) // one character is the line break before the first line
        .toWellFormed()}`
    : null;

const oneLine = (text: string): string => cut(sanitizeText(text).replace(/\s+/g, " ").trim(), MAX_NAME_CHARS);

/** Returns a part with its title; none without a text. */
function part(title: string, text: string | null): string[] {
  const clean = sanitizeText(text ?? "");
  return clean.trim() === "" ? [] : [`${title}: ${cut(clean, MAX_TEXT_CHARS)}`];
}

const cut = (text: string, chars: number): string =>
  text.length > chars ? `${text.slice(0, chars).toWellFormed()}…` : text;
