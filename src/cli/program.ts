import { Command, Help } from "commander";
import { version } from "../shared/process/version.ts";
import { type Entry, type Environment, withExamples } from "./command.ts";
import { COMMANDS } from "./commands/all.ts";

/** Minimum width of the descriptions in the help. The default of 40 leaves a terminal of 60 columns to break words. */
const MIN_HELP_COLUMN = 16;

/** Puts the description of a command or an option below its name on a terminal that is too narrow for two columns. */
function formatItem(this: Help, term: string, termWidth: number, description: string, helper: Help): string {
  const width = helper.helpWidth ?? 80;
  if (description === "" || width - termWidth - 4 >= MIN_HELP_COLUMN)
    return Help.prototype.formatItem.call(helper, term, termWidth, description, helper);
  const lines = helper.boxWrap(description, Math.max(MIN_HELP_COLUMN, width - 6)).split("\n");
  return [`  ${term}`, ...lines.map((line) => `      ${line}`)].join("\n");
}

/** Lists a subcommand by its name, since its arguments are loaded only when it is called. */
const subcommandTerm = (command: Command): string => command.name();

const HELP_END = `
\`signalbox help COMMAND\` shows the options of a command.
Options follow the name of the command.
A running service has a guide at /guide/.`;

/**
 * Builds every command with its description.
 * @param words the command line: only commands that it names are loaded with their options; all commands by default
 */
export async function buildProgram(environment: Environment, words?: readonly string[]): Promise<Command> {
  const program = new Command("signalbox").description("Track jobs, receive webhooks, and run agents on them.");
  program.version(version, "-V, --version", "print the version");
  program.exitOverride(); // the caller sets the exit code
  program.configureHelp({ minWidthToWrap: MIN_HELP_COLUMN, formatItem, subcommandTerm });
  program.enablePositionalOptions(); // `hooks send` and `hooks send agent` have options of the same names
  const addTo = async (parent: Command, entries: Readonly<Record<string, Entry>>) => {
    for (const [name, { description, examples, load, commands = {} }] of Object.entries(entries)) {
      const command = parent.command(name).description(description);
      if (examples) withExamples(command, ...examples);
      if (load && (words === undefined || words.includes(name))) (await load())(command, environment);
      await addTo(command, commands);
    }
  };
  await addTo(program, COMMANDS);
  withExamples(program, "signalbox start", "signalbox jobs list --status failed");
  program.addHelpText("after", HELP_END);
  return program;
}
