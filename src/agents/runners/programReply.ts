import { isObject } from "../../shared/json.ts";
import { stripEscapeSequences } from "../../shared/sanitizeText.ts";
import { withoutThoughts } from "./replyText.ts";
import type { AgentReply } from "./runner.ts";
import { agentFailed } from "./turnErrors.ts";

export interface ReplySettings {
  /** The format of the output: the reply itself (`text`, the default), or JSON that contains the reply (`json`). */
  readonly output?: "text" | "json" | undefined;
  /** The field of the reply in the JSON object; default `result`. */
  readonly replyField?: string | undefined;
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Maximum places at which JSON of several lines is looked for. Each try reads the whole rest of the output. */
const MAX_STARTS = 20;
/** Maximum lines that are parsed one by one: the last ones, since the reply comes last. */
const MAX_LINES = 10_000;

/**
 * Returns the reply in the output of a program, without thoughts, without colours and other escape sequences, and without
 * white space at its end.
 * @throws AppError agent_failed for JSON that contains no reply or reports an error
 */
export function programReply(stdout: Buffer, { output = "text", replyField = "result" }: ReplySettings): AgentReply {
  const text = stripEscapeSequences(new TextDecoder().decode(stdout));
  if (output === "text") return { text: withoutThoughts(text).trimEnd() };
  const answer = selectAnswer(readObjects(text), replyField);
  if (answer.is_error === true || answer.error) throw agentFailed("The program's answer says that it is an error.");
  const reply = Object.hasOwn(answer, replyField) ? answer[replyField] : undefined;
  if (typeof reply !== "string") throw agentFailed(`The program's answer has no text in its field ${replyField}.`);
  const isCutOff = answer.stop_reason === "max_tokens" || answer.finish_reason === "length";
  return {
    text: withoutThoughts(stripEscapeSequences(reply), isCutOff).trimEnd(),
    ...(isCutOff && { isCutOff }),
  };
}

/** Returns the object with the reply: the last of type `result`, else the last one with the field, else the last one. */
function selectAnswer(objects: readonly JsonObject[], replyField: string): JsonObject {
  const answer =
    objects.findLast(({ type }) => type === "result") ??
    objects.findLast((object) => Object.hasOwn(object, replyField)) ??
    objects.at(-1);
  if (!answer) throw agentFailed("The program's output contains no JSON object.");
  return answer;
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
