import type { Command } from "commander";
import { examplesOf } from "../src/cli/program/examples.ts";
import { buildProgram } from "../src/cli/program/program.ts";

/** Generates docs/reference/cli.md: what applies to all commands, then each command as commander defines it. */
export function cliDocs(): string {
  const program = buildProgram(async () => ({}));
  const commands = leaves(program).map(page).join("\n\n");
  return `# The command line

<!-- Made by \`npm run docs\` from src/cli/program and script/cliDocs.ts. -->

In a clone, run \`npx signalbox …\`. \`--help\` after any command prints its arguments and options, \`--version\` the version.

\`\`\`sh no-run
npx signalbox jobs watch report-7          # a progress bar until the job ends; exits with 1 if it fails
npx signalbox jobs list --status failed --json | jq -r .jobId
npx signalbox hooks send agent --message 'What happened last night?' --no-deliver --wait
\`\`\`

## Address and tokens of the service

Every command with the option \`--url\` calls a running service.

| | address | API token | hook token |
|---|---|---|---|
| by default, the service of this folder | that of the instance that runs in the data directory, else \`server.host\` and \`server.port\` of the [configuration](configuration.md) | \`server.apiToken\` | \`hooks.token\`, or the one that the first start generated |
| with \`--url\` or \`SIGNALBOX_URL\` | the given one | \`SIGNALBOX_API_TOKEN\` | \`SIGNALBOX_HOOKS_TOKEN\` |

With a given URL the configuration file is not used, so that its secrets are sent to no other service. There is no option for a
token, because other users of a machine can see the arguments of a process. The hook token is enough for \`hooks send\` and
for reading runs. For commands that only read, \`SIGNALBOX_API_TOKEN\` can hold \`server.readOnlyToken\`.

Options may also stand before the name of the command: \`signalbox --url http://10.0.0.5:3000 jobs --limit 5 list\`.

## Times

\`--created-from\`, \`--created-before\`, \`--updated-from\` and \`--updated-before\` accept a date (\`2026-03-01\`), a time
(\`2026-03-01T12:00:00Z\`), \`today\`, \`yesterday\`, or a duration before now (\`2h\`, \`7d\`). A date, and a time without a zone,
are in the time zone of the machine.

## Output

Results are written to standard output, everything else to standard error. \`--json\` prints one JSON value on each line: one
for each row of a list, one for each event of \`jobs watch\` (\`{ "type": "job" | "job_removed" | "state", "data": … }\`), and
otherwise one in total.

On a terminal, tables fit its width, and a column of ids is left out if there is no room for it. In a pipe, cells are cut at
100 characters, ids excepted. \`--wide\` prints every cell in full. Colours and progress bars are only for terminals
(\`NO_COLOR\` and \`FORCE_COLOR\` override this). Control characters in names, messages and replies are replaced, because other
people write these texts.

\`jobs watch\` and \`runs watch\` continue after a restart of the service. \`jobs watch\` without an id shows the newest 1,000
running jobs, and every job that changes.

## Exit codes

| code | meaning |
|---|---|
| 0 | success; the watched job or run is completed |
| 1 | the job, the run or the check failed, the run was dropped, cancellation of the reported job is requested, or something on this machine is not usable: a file, the configuration, a missing token |
| 2 | the command or its arguments are invalid, or it requires \`--yes\` |
| 3 | the service cannot be reached, or it rejected the request: a wrong token, a missing job |
| 130, 143, 141 | interrupted, terminated, or the reader of the output closed it |

## Completion

\`\`\`sh no-run
source <(signalbox completion bash)                                        # in ~/.bashrc
signalbox completion zsh > ~/.zfunc/_signalbox                             # with ~/.zfunc in $fpath, before compinit
signalbox completion fish > ~/.config/fish/completions/signalbox.fish
\`\`\`

The scripts complete the command \`signalbox\`. \`npm link\` in the clone adds it to the path; it then runs on the Node of the
machine, which must be 22.18 or later.

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
  const parameters = command.registeredArguments.map(
    (argument) => `| \`${argument.name()}\` | ${help.argumentDescription(argument).replaceAll("|", "\\|")} |`,
  );
  const words = help.commandUsage(command).replace(" [options]", "").replace(" [command]", "");
  const all = [...parameters, ...rows];
  const table = all.length > 0 ? `\n\n| argument or option | |\n|---|---|\n${all.join("\n")}` : "";
  return `### \`${words}\`

${command.description()}

\`\`\`sh no-run
${examplesOf(command).join("\n")}
\`\`\`${table}`;
}
