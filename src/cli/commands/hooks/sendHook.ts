import type { AgentHook, HookOptions, WakeMode } from "../../../client/client.ts";
import { CommandError, EXIT } from "../../exit.ts";
import { type Service, withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanJson, cleanLine } from "../../terminal/cleanText.ts";
import { readInput, readJsonBody } from "../../terminal/readInput.ts";
import { print, rowLines } from "../../terminal/words.ts";
import { printNote } from "../list.ts";
import { followRun } from "../runs/followRun.ts";

interface SendOptions extends ServiceOptions {
  readonly idempotencyKey?: string;
  /** Whether to print the response of the service as JSON. */
  readonly json?: boolean;
}

export type WakeOptions = SendOptions & { readonly text: string; readonly mode?: WakeMode };

export type AgentOptions = SendOptions & AgentHook & { readonly timeout?: number; readonly wait?: boolean };

export interface MappedOptions extends SendOptions {
  /** The path of a file, or `-` for standard input. */
  readonly body?: string;
  readonly header?: Readonly<Record<string, string>>;
}

const optionsOf = ({ idempotencyKey }: SendOptions): HookOptions => ({ ...(idempotencyKey && { idempotencyKey }) });

/** `hooks send wake` */
export function sendWake(env: NodeJS.ProcessEnv, options: WakeOptions): Promise<void> {
  const text = textOf(options.text, "The text");
  return send(env, options, async (service) => {
    needHookToken(service);
    const { mode } = options;
    const answer = await service.client.hooks.send("wake", { text, ...(mode && { mode }) }, optionsOf(options));
    print(
      options.json
        ? [cleanJson(answer)]
        : rowLines([
            ["Event", answer.eventId],
            ["Mode", answer.mode],
          ]),
    );
  });
}

/** `hooks send agent`: starts a run. With `wait` it then follows the run as `runs watch` does. */
export function sendAgent(env: NodeJS.ProcessEnv, options: AgentOptions): Promise<void> {
  const { name, sessionKey, wakeMode, deliver, channel, to, model, thinking, timeout: timeoutSeconds } = options;
  const fields = { name, sessionKey, wakeMode, deliver, channel, to, model, thinking, timeoutSeconds };
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  const message = textOf(options.message, "The message");
  return send(env, options, async (service) => {
    needHookToken(service);
    const answer = await service.client.hooks.send("agent", { message, ...given }, optionsOf(options));
    if (options.wait) {
      printNote(`run ${cleanLine(answer.runId)}`);
      return followRun(service, answer.runId, options);
    }
    print(
      options.json
        ? [cleanJson(answer)]
        : rowLines([
            ["Run", answer.runId],
            ["Session", answer.sessionKey],
          ]),
    );
  });
}

/** `hooks send NAME`: sends the bytes of the file unchanged, so that a signature of them in a header stays valid. */
export function sendMapped(env: NodeJS.ProcessEnv, name: string, options: MappedOptions): Promise<void> {
  // The option is not required in commander, because `hooks send agent` would then require it too.
  if (options.body === undefined) throw new CommandError(EXIT.usage, BODY_MISSING);
  const { bytes, value } = readJsonBody(options.body);
  const headers = options.header ?? {};
  const sendUnchanged: typeof globalThis.fetch = (url, init) => fetch(url, { ...init, body: bytes });
  const act = async (service: Service) => {
    if (Object.keys(headers).length === 0) needHookToken(service); // a header may authenticate the sender instead
    const answer = await service.client.hooks.send(name, value, { ...optionsOf(options), headers });
    if (options.json) return print([cleanJson(answer)]);
    const { runIds = [answer.runId] } = answer;
    const runs = (runIds as unknown[]).filter((runId) => runId !== undefined);
    if (runs.length === 0) printNote("The webhook starts no run.");
    print(rowLines(runs.map((runId) => ["Run", String(runId)] as const)));
  };
  return withService(env, { ...options, fetch: sendUnchanged }, act, "mapped");
}

const BODY_MISSING = "--body is required: name a file with the JSON body, or - for standard input.";

const send = (env: NodeJS.ProcessEnv, options: ServiceOptions, act: (service: Service) => Promise<void>) =>
  withService(env, options, act, "hooks");

/** Checks for a hook token before anything is sent. @throws CommandError */
function needHookToken({ url, hookToken, settingNames }: Service): void {
  if (hookToken !== undefined) return;
  const where = settingNames("SIGNALBOX_HOOKS_TOKEN", "hooks.token");
  throw new CommandError(EXIT.failed, `The service at ${url} requires its hook token: set ${where}.`);
}

/** Returns the text, or standard input for `-`. */
const textOf = (text: string, what: string): string => (text === "-" ? readInput("-", what) : text);
