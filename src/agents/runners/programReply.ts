import { isObject } from "../../shared/text/json.ts";
import { stripEscapeSequences } from "../../shared/text/sanitizeText.ts";
import { withoutThoughts } from "./replyText.ts";
import type { AgentReply } from "./runner.ts";
import { agentFailed } from "./turnErrors.ts";

export interface ReplySettings {
  /** The format of the output: the reply itself (`text`, the default), or JSON that contains the reply (`json`). */
  readonly output?: "text" | "json" | undefined;
  /** The field of the reply in the JSON object; default `result`. */
  readonly replyField?: string | undefined;
}

const REPLY_FIELD = "result";

type JsonObject = Readonly<Record<string, unknown>>;

/** Maximum places at which JSON of several lines is looked for. Each try reads the whole rest of the output. */
const MAX_STARTS = 20;
/** Maximum lines that are parsed one by one: the last ones, since the reply comes last. */
const MAX_LINES = 10_000;

/** The output of a program. `answer` is the JSON object with the reply; undefined if the output is a text or has none. */
interface ProgramOutput {
  readonly text: string;
  readonly answer: JsonObject | undefined;
}

/** Reads the output of a program, without colours and other escape sequences. */
export function readOutput(stdout: Buffer, { output, replyField = REPLY_FIELD }: ReplySettings): ProgramOutput {
  const text = stripEscapeSequences(new TextDecoder().decode(stdout));
  if (output !== "json") return { text, answer: undefined };
  return { text, answer: codexAnswer(text, replyField) ?? selectAnswer(readObjects(text), replyField) };
}

/**
 * Returns the reply in the output of a program, without thoughts and without white space at its end.
 * @throws AppError agent_failed for JSON that contains no reply or reports an error
 */
export function programReply(
  { text, answer }: ProgramOutput,
  { output = "text", replyField = REPLY_FIELD }: ReplySettings,
): AgentReply {
  if (output === "text") return { text: withoutThoughts(text).trimEnd() };
  if (!answer) throw agentFailed("The program's output contains no JSON object.");
  if (answer.is_error === true || answer.error) throw agentFailed("The program's answer reports an error.");
  const reply = Object.hasOwn(answer, replyField) ? answer[replyField] : undefined;
  if (typeof reply !== "string") throw agentFailed(`The program's answer has no text in its field ${replyField}.`);
  const isCutOff = answer.stop_reason === "max_tokens" || answer.finish_reason === "length";
  return {
    text: withoutThoughts(stripEscapeSequences(reply), isCutOff).trimEnd(),
    ...(isCutOff && { isCutOff }),
  };
}

/**
 * Returns the events that `codex exec --json` prints, one on each line, as one object with the reply, the usage and the error.
 * Source: https://github.com/openai/codex/blob/main/codex-rs/exec/src/exec_events.rs
 * @returns undefined for the output of another program
 */
function codexAnswer(text: string, replyField: string): JsonObject | undefined {
  if (!/^\{"type":\s*"(?:thread\.started|turn\.completed|turn\.failed)"/m.test(text)) return undefined;
  const events = text.split("\n").slice(-MAX_LINES).flatMap(objectsIn);
  const last = (wanted: string) => events.findLast(({ type }) => type === wanted);
  const messages = events.flatMap(({ type, item }) =>
    type === "item.completed" && isObject(item) && item.type === "agent_message" ? [item.text] : [],
  );
  return {
    ...(messages.length > 0 && { [replyField]: messages.at(-1) }),
    usage: last("turn.completed")?.usage,
    error: last("turn.failed")?.error,
  };
}

/** Returns the object with the reply: the last of type `result`, else the last one with the field, else the last one, if any. */
function selectAnswer(objects: readonly JsonObject[], replyField: string): JsonObject | undefined {
  return (
    objects.findLast(({ type }) => type === "result") ??
    objects.findLast((object) => Object.hasOwn(object, replyField)) ??
    objects.at(-1)
  );
}

/**
 * Returns the JSON objects in the output of a program. The output is one object, an array of objects, or one of them on each
 * line; other lines before them, such as a banner or a warning, are ignored.
 */
function readObjects(output: string): JsonObject[] {
  const starts = [0, ...Array.from(output.matchAll(/(?<=\n)[ \t]*[[{]/g), ({ index }) => index)];
  for (const start of starts.slice(0, MAX_STARTS)) {
    const objects = objectsIn(output.slice(start));
    if (objects.length > 0) return objects;
  }
  return output.split("\n").slice(-MAX_LINES).flatMap(objectsIn);
}

function objectsIn(json: string): JsonObject[] {
  if (!/^\s*[[{]/.test(json)) return [];
  try {
    return [JSON.parse(json)].flat().filter(isObject);
  } catch {
    return []; // the parser's message quotes the output
  }
}
