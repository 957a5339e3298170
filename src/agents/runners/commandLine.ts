import { agentFailed } from "./turnErrors.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Variables that every program gets: neither credentials nor this service's settings. */
const ALWAYS_PASSED = /^(PATH|HOME|LANG|LC_\w+|TMPDIR|USER|SHELL|TERM)$/;

const PLACEHOLDER = /\{(model|thinking)\}/g;

/**
 * Fills `{model}` and `{thinking}` into the arguments. An argument is omitted if one of its placeholders has no value. The
 * flag before it is then omitted too, unless the argument is itself a flag (`--model={model}`).
 * @throws AppError agent_failed if the program would read a value as a flag
 */
export function fillArguments(
  args: readonly string[],
  values: { readonly model?: string | undefined; readonly thinking?: string | undefined },
): string[] {
  const filled: string[] = [];
  for (const arg of args) {
    const names = [...arg.matchAll(PLACEHOLDER)].map(([, name]) => name as "model" | "thinking");
    if (names.every((name) => values[name])) {
      filled.push(arg.replace(PLACEHOLDER, (_, name: "model" | "thinking") => checkValue(name, values[name])));
    } else if (!arg.startsWith("-") && /^--?\w/.test(filled.at(-1) ?? "")) {
      filled.pop();
    }
  }
  return filled;
}

/** Returns a value unless it could become a flag. Values may come from untrusted senders. */
function checkValue(name: string, value = ""): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: arguments must not contain NUL, and names need no control characters
  if (!/^-|[\u0000-\u001f]/.test(value)) return value;
  throw agentFailed(`The ${name} of this run cannot be used as an argument of a program.`);
}

/**
 * Returns a program's environment: the variables of `service` that every program gets or that `passEnv` names, overridden by
 * `env`, overridden by the variables of the turn.
 */
export function selectEnvironment(
  service: Environment,
  {
    passEnv = [],
    env = {},
  }: { readonly passEnv?: readonly string[] | undefined; readonly env?: Environment | undefined },
  turn: Environment,
): Record<string, string | undefined> {
  const passed = Object.entries(service).filter(([name]) => ALWAYS_PASSED.test(name) || passEnv.includes(name));
  return { ...Object.fromEntries(passed), ...env, ...turn };
}
