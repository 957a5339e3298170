import { isObject } from "../../shared/json.ts";
import { stripEscapeSequences } from "../../shared/sanitizeText.ts";
import { withoutThoughts } from "./replyText.ts";
import { agentFailed } from "./turnErrors.ts";

export interface ReplySettings {
  /** The format of the output: the reply itself (`text`, the default), or one JSON object with the reply (`json`). */
  readonly output?: "text" | "json" | undefined;
  /** The field of the reply in the JSON object; default `result`. */
  readonly replyField?: string | undefined;
}

/**
 * Returns the reply in the output of a program, without thoughts, without colours and other escape
 * sequences, and without white space at its end.
 * @throws AppError agent_failed for JSON that contains no reply or reports an error
 */
export function programReply(stdout: Buffer, { output = "text", replyField = "result" }: ReplySettings): string {
  const text = new TextDecoder().decode(stdout);
  if (output === "text") return withoutThoughts(stripEscapeSequences(text)).trimEnd();
  const answer = parse(text);
  if (answer.is_error === true || answer.error) throw agentFailed("The program's answer says that it is an error.");
  const reply = Object.hasOwn(answer, replyField) ? answer[replyField] : undefined;
  if (typeof reply !== "string") throw agentFailed(`The program's answer has no text in its field ${replyField}.`);
  return withoutThoughts(stripEscapeSequences(reply)).trimEnd();
}

function parse(text: string): Record<string, unknown> {
  try {
    const answer: unknown = JSON.parse(stripEscapeSequences(text));
    if (isObject(answer)) return answer;
  } catch {
    // The error below replaces the parser's, whose message quotes the output.
  }
  throw agentFailed("The program's answer is not one JSON object.");
}
