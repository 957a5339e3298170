import { AppError } from "../../shared/errors.ts";
import { type Ended, isTransientStartError, runProcessGroup } from "../../shared/processGroup.ts";
import { fillArguments, selectEnvironment } from "./commandLine.ts";
import { programReply, type ReplySettings } from "./programReply.ts";
import { renderPrompt } from "./renderPrompt.ts";
import type { AgentRunner } from "./runner.ts";
import { aborted, failed } from "./turnErrors.ts";

export interface CommandSettings extends ReplySettings {
  /** The program, and its arguments, which may hold `{model}` and `{thinking}`. */
  readonly command: readonly string[];
  /** Set in the program's environment. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Names of variables of this service's environment that the program is given too. */
  readonly passEnv?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  /** Default 4 MiB. */
  readonly maxOutputBytes?: number | undefined;
}

/** Starts a program for each turn: the prompt is its standard input, its standard output the reply. */
export function commandRunner(
  settings: CommandSettings | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  graceMs?: number,
): AgentRunner {
  const [name, ...args] = settings?.command ?? [];
  if (!settings || !name) throw failed("No program is set: give one in agents.runners.command.command.");
  return {
    async run(turn, signal) {
      if (signal.aborted) throw aborted(signal);
      const program = {
        command: [name, ...fillArguments(args, turn)] as const,
        env: selectEnvironment(environment, settings, turn.env),
        cwd: settings.cwd,
        input: renderPrompt(turn.messages),
        maxOutputBytes: settings.maxOutputBytes ?? 4 * 1024 * 1024,
        graceMs,
      };
      const ended = await runProcessGroup(program, signal).catch((error) => {
        throw notStarted(error);
      });
      if (ended.stopped === "signal") throw aborted(signal);
      checkEnd(ended);
      return { text: programReply(ended.output, settings) };
    },
  };
}

function checkEnd({ stopped, code, killedBy }: Ended): void {
  if (stopped === "output") throw failed("The program printed more than agents.runners.command.maxOutputBytes.");
  if (killedBy) throw new AppError("agent_unavailable", { detail: `The program was ended by ${killedBy}.` });
  if (code !== 0) throw failed(`The program ended with exit code ${code}.`);
}

/** Without its cause: that one lists the arguments. */
function notStarted({ code }: NodeJS.ErrnoException): AppError {
  const detail = `The program of agents.runners.command cannot be started (${code}): are it and its cwd there?`;
  return isTransientStartError(code) ? new AppError("agent_unavailable", { detail }) : failed(detail);
}
