import type { Command } from "commander";
import { examplesOf } from "../src/cli/program/examples.ts";
import { buildProgram } from "../src/cli/program/program.ts";

/** Generates docs/reference/cli.md: what applies to all commands, then each command as commander defines it. */
export function cliDocs(): string {
  const program = buildProgram(async () => ({}));
  const commands = leaves(program).map(page).join("\n\n");
  return `# The command line

<!-- Made by \`npm run docs\` from src/cli/program and script/cliDocs.ts. -->

In a clone it is \`npx signalbox …\`. \`--help\` after any command says what it takes, \`--version\` which release it is of.

\`\`\`sh
npx signalbox jobs watch report-7          # a progress bar until the job ends; exits with 1 where it fails
npx signalbox jobs list --status failed --json | jq -r .jobId
npx signalbox hooks send agent --message 'What happened last night?' --no-deliver --wait
\`\`\`

## Which service, and its tokens

\`jobs\`, \`runs\`, \`deliveries\`, \`sessions\` and \`hooks send\` speak to a running service.

| | address | API token | hook token |
|---|---|---|---|
| nothing is said: the one that the [configuration](configuration.md) describes | \`server.host\`, \`server.port\` | \`server.apiToken\` | \`hooks.token\`, or the one that the first start has made |
| \`--url\`, or \`SIGNALBOX_URL\` | that one | \`SIGNALBOX_API_TOKEN\` | \`SIGNALBOX_HOOKS_TOKEN\` |

With a URL no configuration file is looked into, so that its secrets go nowhere else. There is no option for a token: the
arguments of a process can be seen by others. The hook token is enough for \`hooks send\` and for reading runs;
\`server.readOnlyToken\` in \`SIGNALBOX_API_TOKEN\` for all that only reads.

## What is printed

Results go to standard output, everything else to standard error. \`--json\` prints one JSON value a line: a line for each row of
a list, for each event of \`jobs watch\` (\`{ "type": "job" | "job_removed" | "state", "data": … }\`), else one. Colours, bars and
texts that are cut to the width are for terminals alone (\`NO_COLOR\` and \`FORCE_COLOR\` count). Names, messages and replies are
written by others: control characters in them never reach the terminal.

\`jobs watch\` and \`runs watch\` outlive restarts of the service. \`jobs watch\` of many shows the newest 1,000 that run, and any
that changes.

## Exit codes

| code | |
|---|---|
| 0 | done; the job or the run that was watched is completed |
| 1 | the job, the run or the check failed (a run that was dropped too), or something on this machine is not usable: a file, the configuration, a token that is missing |
| 2 | the command was not understood, or wants \`--yes\` |
| 3 | the service cannot be reached, or has refused: a wrong token, no such job |
| 130, 143, 141 | interrupted, terminated, or whoever read the output has gone |

## Completion

\`\`\`sh
source <(signalbox completion bash)                                        # in ~/.bashrc
signalbox completion zsh > ~/.zfunc/_signalbox                             # with ~/.zfunc in $fpath, before compinit
signalbox completion fish > ~/.config/fish/completions/signalbox.fish
\`\`\`

It completes the command \`signalbox\`: \`npm link\` in the clone puts that on the path (it then runs on the machine's own Node,
which has to be 22.18 or later).

## Commands

${commands}
`;
}

const leaves = (command: Command): Command[] =>
  command.registeredArguments.length > 0 || command.commands.length === 0
    ? [command, ...command.commands.flatMap(leaves)]
    : command.commands.flatMap(leaves);

function page(command: Command): string {
  const help = command.createHelp();
  const rows = help
    .visibleOptions(command)
    .filter(({ long }) => long !== "--help")
    .map((option) => `| \`${option.flags}\` | ${help.optionDescription(option).replaceAll("|", "\\|")} |`);
  const table = rows.length > 0 ? `\n\n| option | |\n|---|---|\n${rows.join("\n")}` : "";
  const words = help.commandUsage(command).replace(" [options]", "").replace(" [command]", "");
  return `### \`${words}\`

${command.description()}

\`\`\`sh
${examplesOf(command).join("\n")}
\`\`\`${table}`;
}
