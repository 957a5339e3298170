import { isTransientStartError, runProcessGroup } from "../../shared/processGroup.ts";
import type { Channel, SendResult } from "../channel.ts";
import { redactWithNames } from "../redact.ts";
import { type ImessageRecipient, invalidRecipient, namesOf, readRecipient } from "./recipient.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Messages has two minutes for a script; then imsg looks for the message for some seconds. */
const SEND_TIMEOUT_MS = 150_000;
const CHECK_TIMEOUT_MS = 20_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** What a program finds in its environment: no credentials but the way to those of SSH, and none of this service's settings. */
const PASSED_VARIABLES = /^(PATH|HOME|LANG|LC_\w+|TMPDIR|USER|LOGNAME|SHELL|TERM|SSH_AUTH_SOCK)$/;

/** Without these nothing can be sent to anybody. */
const PERMISSION_ERROR = /Full Disk Access|not authori[sz]ed/i;

/** What a code of an error says, but for what is said of the set-up. */
const KIND_BY_CODE: Readonly<Record<number, "gone" | "authentication">> = {
  // The recipient: the rest of the parameters is always the same.
  [-32602]: "gone",
  // It is another program than imsg, or one that is too old.
  [-32600]: "authentication",
  [-32601]: "authentication",
  [-32700]: "authentication",
};

type Outcome =
  // biome-ignore lint/suspicious/noExplicitAny: an answer has whatever shape it has
  | { readonly kind: "answer"; readonly answer: any }
  | { readonly kind: "transient" | "authentication" | "ambiguous"; readonly reason: string };

/**
 * iMessage, through the `imsg` command on a Mac: `imsg rpc`, asked once. Its `send` would take the message as an argument,
 * where other users of the Mac see it, where one that begins with `-` is refused, and where the shell behind an SSH wrapper
 * would carry out what is in it.
 */
export function imsg(
  settings: { readonly command: readonly string[] },
  environment: Environment,
): Pick<Channel, "send" | "check"> {
  const [name = "imsg", ...args] = settings.command;
  const env = Object.fromEntries(Object.entries(environment).filter(([key]) => PASSED_VARIABLES.test(key)));
  async function call(method: string, params: object, timeoutMs: number, signal: AbortSignal): Promise<Outcome> {
    if (signal.aborted) return { kind: "transient", reason: "The worker is stopping." };
    const program = {
      command: [name, ...args, "rpc"] as const,
      env,
      cwd: undefined,
      input: `${JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })}\n`,
      maxOutputBytes: MAX_OUTPUT_BYTES,
      isAnswered: (output: Buffer) => readAnswer(output) !== undefined,
    };
    try {
      const ended = await runProcessGroup(program, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
      const answer = readAnswer(ended.output);
      return answer === undefined ? withoutAnswer(ended) : { kind: "answer", answer };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      const reason = `The program of channels.imessage.command cannot be started (${code}): is it there?`;
      return { kind: isTransientStartError(code) ? "transient" : "authentication", reason };
    }
  }
  return {
    async send({ to, text }, signal) {
      const recipient = readRecipient(to);
      if (!recipient) return invalidRecipient(to);
      const outcome = await call("send", { ...recipientParams(recipient), text }, SEND_TIMEOUT_MS, signal);
      return classify(outcome, namesOf(recipient), text);
    },
    async check(signal) {
      const outcome = await call("chats.list", { limit: 1 }, CHECK_TIMEOUT_MS, signal);
      if (outcome.kind === "answer" && Array.isArray(outcome.answer.result?.chats)) {
        return { ok: true, detail: "imsg answers, and may read Messages" };
      }
      const result = classify(outcome, [], "");
      return { ok: false, detail: result.kind === "sent" ? "It is no imsg that answers." : result.reason };
    },
  };
}

/** By address where there is one: a chat with them need not be there yet. */
function recipientParams(recipient: ImessageRecipient): object {
  if (recipient.kind === "chat") return { chat_guid: recipient.guid };
  const { address, service } = recipient;
  return { to: address, service: service === "any" ? "auto" : service.toLowerCase() };
}

/** The answer to the one request, on a line of its own. */
// biome-ignore lint/suspicious/noExplicitAny: an answer has whatever shape it has
function readAnswer(output: Buffer): any {
  for (const line of output.toString().split("\n")) {
    try {
      const message = JSON.parse(line);
      if (message?.id === 1 && (message.result || message.error)) return message;
    } catch {
      // A banner of SSH, or a line that is not whole yet.
    }
  }
  return undefined;
}

function withoutAnswer({ stopped, code, killedBy }: Awaited<ReturnType<typeof runProcessGroup>>): Outcome {
  if (stopped === "signal") return { kind: "ambiguous", reason: "imsg was stopped before it had answered." };
  if (stopped === "output") return { kind: "ambiguous", reason: "imsg printed far more than an answer." };
  // So says a shell of a command that it does not find, or may not run.
  const isMissing = code === 126 || code === 127;
  const how = killedBy ? `was ended by ${killedBy}` : `ended with exit code ${code}`;
  return {
    kind: isMissing ? "authentication" : "ambiguous",
    reason: `The program of channels.imessage.command ${how} before it had answered.`,
  };
}

function classify(outcome: Outcome, names: readonly string[], text: string): SendResult {
  if (outcome.kind !== "answer") return outcome;
  const { result, error } = outcome.answer;
  if (error) return classifyError(error, names, text);
  const { ok, status, guid, id } = result;
  const shown = [guid, id].find((value) => typeof value === "string" || typeof value === "number");
  if (ok !== true && status !== "sent" && shown === undefined) {
    return { kind: "ambiguous", reason: "imsg answered, but not what it answers for a message it took." };
  }
  return { kind: "sent", id: shown === undefined ? null : String(shown) };
}

function classifyError(
  // biome-ignore lint/suspicious/noExplicitAny: an answer has whatever shape it has
  { code, message, data }: any,
  names: readonly string[],
  text: string,
): Exclude<SendResult, { kind: "sent" }> {
  const errorText = [data, message].find((words) => typeof words === "string") ?? "";
  const words = redactWithNames(names, errorText, text);
  const label = Number.isInteger(code) ? `error ${code}` : "an error";
  const reason = `imsg answered ${label}${words && `: ${words}`}`;
  if (PERMISSION_ERROR.test(errorText)) return { kind: "authentication", reason };
  // AppleScript has refused it; else it has waited too long, or the message is somewhere and not in the chat.
  const isRefusal =
    errorText.startsWith("AppleScript failed") && !/timed out|-1712|accepted the chat send/.test(errorText);
  const kind = Number.isInteger(code) ? KIND_BY_CODE[code] : undefined;
  return { kind: kind ?? (isRefusal ? "transient" : "ambiguous"), reason };
}
