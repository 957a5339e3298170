import { CommandError, EXIT } from "../../exit.ts";

/** Functions of the commands that report: `run`, `jobs put` and `jobs report`. */

/** Returns the metadata of options such as `--metadata host=db1`. The first value of a key counts. */
export const metadataOf = (pairs: Readonly<Record<string, readonly string[]>>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(pairs).map(([key, [value]]) => [key, value]));

/** The description of the option --return. */
export const RETURN = "when the job ends, wake the session of the agent run that this command is a part of";

/** Returns the fields of a job that wakes the session of the agent run. @throws CommandError outside of an agent run */
export function returnFields(isWanted: boolean | undefined, env: NodeJS.ProcessEnv): { readonly returnTo?: string } {
  if (!isWanted) return {};
  // Another token than that of the run needs the key of the session.
  const returnTo = env.SIGNALBOX_API_TOKEN ? env.SIGNALBOX_SESSION : env.SIGNALBOX_TOKEN && OWN_SESSION;
  if (returnTo) return { returnTo };
  const detail = "--return needs an agent run with trackAsJob, which sets SIGNALBOX_TOKEN and SIGNALBOX_SESSION.";
  throw new CommandError(EXIT.usage, detail);
}

/** The value of `returnTo` for the session of the run whose token is used. */
const OWN_SESSION = "self";

/** Returns a function that prints each text only once. */
export function onceEach(print: (text: string) => void): (text: string) => void {
  const printed = new Set<string>();
  return (text) => {
    if (!printed.has(text)) print(text);
    printed.add(text);
  };
}
