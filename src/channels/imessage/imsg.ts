import { isTransientStartError, runProcessGroup } from "../../shared/process/processGroup.ts";
import { type ImessageRecipient, namesOf, readRecipient } from "../../shared/recipients/imessage.ts";
import type { Channel, SendOutcome } from "../channel.ts";
import { redactWithNames } from "../redact.ts";
import { invalidRecipient } from "./invalidRecipient.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Messages allows a script two minutes; afterwards imsg searches for the message for some seconds. */
const SEND_TIMEOUT_MS = 150_000;
const CHECK_TIMEOUT_MS = 20_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** Environment variables that the program receives: no credentials but the SSH agent, and none of this service's settings. */
const PASSED_VARIABLES = /^(PATH|HOME|LANG|LC_\w+|TMPDIR|USER|LOGNAME|SHELL|TERM|SSH_AUTH_SOCK)$/;

/** Matches errors about missing macOS permissions, without which no message can be sent. */
const PERMISSION_ERROR = /Full Disk Access|not authori[sz]ed/i;

/** Outcome by JSON-RPC error code, for errors that are not about permissions. */
const KIND_BY_CODE: Readonly<Record<number, "gone" | "authentication">> = {
  // Invalid parameters: only the recipient varies.
  [-32602]: "gone",
  // The program is not imsg, or too old.
  [-32600]: "authentication",
  [-32601]: "authentication",
  [-32700]: "authentication",
};

type CallOutcome =
  // biome-ignore lint/suspicious/noExplicitAny: an answer can have any shape
  | { readonly kind: "answer"; readonly answer: any }
  | { readonly kind: "transient" | "authentication" | "ambiguous"; readonly reason: string };

/**
 * Sends iMessages through the `imsg` command on a Mac, with one request to `imsg rpc`. `imsg send` is not used, as it takes
 * the message as an argument: other users of the Mac could read it, one that begins with `-` would fail, and the shell behind
 * an SSH wrapper would execute it.
 */
export function imsg(
  settings: { readonly command: readonly string[] },
  environment: Environment,
): Pick<Channel, "send" | "check"> {
  const [name = "imsg", ...args] = settings.command;
  const env = Object.fromEntries(Object.entries(environment).filter(([key]) => PASSED_VARIABLES.test(key)));
  async function call(method: string, params: object, timeoutMs: number, signal: AbortSignal): Promise<CallOutcome> {
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
      const reason = `The program of channels.imessage.command cannot be started (${code}): check that it is installed.`;
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
        return { ok: true, detail: "imsg answers and is allowed to read Messages" };
      }
      const result = classify(outcome, [], "");
      return { ok: false, detail: result.kind === "sent" ? "The program is not imsg." : result.reason };
    },
  };
}

/** Returns the recipient's parameters: an address if there is one, since a chat with it may not exist yet. */
function recipientParams(recipient: ImessageRecipient): object {
  if (recipient.kind === "chat") return { chat_guid: recipient.guid };
  const { address, service } = recipient;
  return { to: address, service: service === "any" ? "auto" : service.toLowerCase() };
}

/** Returns the answer to the request, which is one line of the output; undefined if there is none yet. */
// biome-ignore lint/suspicious/noExplicitAny: an answer can have any shape
function readAnswer(output: Buffer): any {
  for (const line of output.toString().split("\n")) {
    try {
      const message = JSON.parse(line);
      if (message?.id === 1 && (message.result || message.error)) return message;
    } catch {
      // The line is a banner of SSH, or incomplete.
    }
  }
  return undefined;
}

function withoutAnswer({ stopped, code, killedBy }: Awaited<ReturnType<typeof runProcessGroup>>): CallOutcome {
  if (stopped === "signal") return { kind: "ambiguous", reason: "imsg was stopped before it answered." };
  if (stopped === "output") return { kind: "ambiguous", reason: "imsg printed more than an answer." };
  // A shell returns these codes for a command that it cannot find or execute.
  const isMissing = code === 126 || code === 127;
  const how = killedBy ? `was ended by ${killedBy}` : `ended with exit code ${code}`;
  return {
    kind: isMissing ? "authentication" : "ambiguous",
    reason: `The program of channels.imessage.command ${how} before it answered.`,
  };
}

function classify(outcome: CallOutcome, names: readonly string[], text: string): SendOutcome {
  if (outcome.kind !== "answer") return outcome;
  const { result, error } = outcome.answer;
  if (error) return classifyError(error, names, text);
  const { ok, status, guid, id } = result;
  const shown = [guid, id].find((value) => typeof value === "string" || typeof value === "number");
  if (ok !== true && status !== "sent" && shown === undefined) {
    return { kind: "ambiguous", reason: "imsg answered, but not with the response to an accepted message." };
  }
  return { kind: "sent", id: shown === undefined ? null : String(shown) };
}

function classifyError(
  // biome-ignore lint/suspicious/noExplicitAny: an answer can have any shape
  { code, message, data }: any,
  names: readonly string[],
  text: string,
): Exclude<SendOutcome, { kind: "sent" }> {
  const errorText = [data, message].find((words) => typeof words === "string") ?? "";
  const words = redactWithNames(names, errorText, text);
  const label = Number.isInteger(code) ? `error ${code}` : "an error";
  const reason = `imsg answered ${label}${words && `: ${words}`}`;
  if (PERMISSION_ERROR.test(errorText)) return { kind: "authentication", reason };
  // Otherwise AppleScript timed out, or the message was sent but is missing from the chat.
  const isRefusal =
    errorText.startsWith("AppleScript failed") && !/timed out|-1712|accepted the chat send/.test(errorText);
  const kind = Number.isInteger(code) ? KIND_BY_CODE[code] : undefined;
  return { kind: kind ?? (isRefusal ? "transient" : "ambiguous"), reason };
}
