import { failed } from "./turnErrors.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What a program finds in its environment without being asked for: no credentials, and none of this service's settings. */
const PASSED = /^(PATH|HOME|LANG|LC_\w+|TMPDIR|USER|SHELL|TERM)$/;

const PLACEHOLDER = /\{(model|thinking)\}/g;

/**
 * The arguments with `{model}` and `{thinking}` filled in. One that holds a placeholder without a value is left out; so is
 * the flag before it, unless the argument is itself a flag (`--model={model}`).
 * @throws AppError agent_failed for a value that the program would read as a flag
 */
export function fillArguments(
  args: readonly string[],
  values: { readonly model?: string | undefined; readonly thinking?: string | undefined },
): string[] {
  const filled: string[] = [];
  for (const arg of args) {
    const names = [...arg.matchAll(PLACEHOLDER)].map(([, name]) => name as "model" | "thinking");
    if (names.every((name) => values[name])) {
      filled.push(arg.replace(PLACEHOLDER, (_, name: "model" | "thinking") => plain(name, values[name])));
    } else if (!arg.startsWith("-") && /^--?\w/.test(filled.at(-1) ?? "")) {
      filled.pop();
    }
  }
  return filled;
}

/** These values may come from outside: none may become a flag of its own. */
function plain(name: string, value = ""): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: an argument cannot hold a NUL, and a name needs no others
  if (!/^-|[\u0000-\u001f]/.test(value)) return value;
  throw failed(`The ${name} of this run cannot stand on a command line.`);
}

/** A program's environment: what everything needs of ours, what is named, then what is set, the turn's own last. */
export function selectEnvironment(
  ours: Environment,
  {
    passEnv = [],
    env = {},
  }: { readonly passEnv?: readonly string[] | undefined; readonly env?: Environment | undefined },
  turn: Environment,
): Record<string, string | undefined> {
  const passed = Object.entries(ours).filter(([name]) => PASSED.test(name) || passEnv.includes(name));
  return { ...Object.fromEntries(passed), ...env, ...turn };
}
