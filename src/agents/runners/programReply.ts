import { isObject } from "../../shared/json.ts";
import { failed } from "./turnErrors.ts";

export interface ReplySettings {
  /** How the program answers: its output is the reply (the default), or one JSON object holds it. */
  readonly output?: "text" | "json" | undefined;
  /** The key of the reply in that object; default `result`. */
  readonly replyField?: string | undefined;
}

/**
 * The reply in what a program printed, without white space at its end.
 * @throws AppError agent_failed for JSON that holds no reply, or says of itself that it is an error
 */
export function programReply(printed: Buffer, { output = "text", replyField = "result" }: ReplySettings): string {
  const text = new TextDecoder().decode(printed);
  if (output === "text") return text.trimEnd();
  const answer = parse(text);
  if (answer.is_error === true || answer.error) throw failed("The program's answer says that it is an error.");
  const reply = Object.hasOwn(answer, replyField) ? answer[replyField] : undefined;
  if (typeof reply !== "string") throw failed(`The program's answer has no text in its field ${replyField}.`);
  return reply.trimEnd();
}

function parse(text: string): Record<string, unknown> {
  try {
    const answer: unknown = JSON.parse(text);
    if (isObject(answer)) return answer;
  } catch {
    // Said below, without the parser's words, which quote the answer.
  }
  throw failed("The program's answer is not one JSON object.");
}
