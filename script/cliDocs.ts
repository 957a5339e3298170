import type { Command } from "commander";
import { examplesOf } from "../src/cli/program/examples.ts";
import { buildProgram } from "../src/cli/program/program.ts";

/** Generates docs/reference/cli.md: what applies to all commands, then each command as commander defines it. */
export function cliDocs(): string {
  const program = buildProgram(async () => ({}));
  const commands = leaves(program).map(page).join("\n\n");
  return `# The command line

<!-- Made by \`npm run docs\` from src/cli/program and script/cliDocs.ts. -->

\`\`\`sh no-run
npx signalbox jobs watch report-7          # a progress bar until the job ends; exits with 1 if it fails
npx signalbox jobs list --status failed --json | jq -r .jobId
npx signalbox hooks send agent --message 'What happened last night?' --no-deliver --wait
\`\`\`

In a clone the command is \`npx signalbox …\`. \`--help\` after any command shows its options, \`--version\` the version.

## Service and tokens

\`jobs\`, \`runs\`, \`deliveries\`, \`sessions\` and \`hooks send\` call a running service.

| | address | API token | hook token |
|---|---|---|---|
| by default: as the [configuration](configuration.md) says | \`server.host\`, \`server.port\` | \`server.apiToken\` | \`hooks.token\`, or the token of the first start |
| with \`--url\` or \`SIGNALBOX_URL\` | that address | \`SIGNALBOX_API_TOKEN\` | \`SIGNALBOX_HOOKS_TOKEN\` |

With a URL no configuration file is read, so that its secrets are not sent elsewhere. There is no option for a token, because other
users can see the arguments of a process. The hook token is enough for \`hooks send\` and for reading a run. The value of
\`server.readOnlyToken\` in \`SIGNALBOX_API_TOKEN\` is enough for commands that only read.

## Output

Results go to standard output, everything else to standard error. \`--json\` prints one JSON value a line: a line for each row of a
list, and for each event of \`jobs watch\` (\`{ "type": "job" | "job_removed" | "state", "data": … }\`).

Colours, bars and shortened texts appear only on a terminal; \`NO_COLOR\` and \`FORCE_COLOR\` are respected. Control characters in names,
messages and replies never reach the terminal.

\`jobs watch\` and \`runs watch\` continue over restarts of the service. \`jobs watch\` without an id shows the newest 1,000 running jobs,
and every job that changes.

## Exit codes

| code | meaning |
|---|---|
| 0 | success; the watched job or run completed |
| 1 | the job, run or check failed, or the run was dropped; or something on this machine is unusable: a file, the configuration, a missing token |
| 2 | the command was not understood, or needs \`--yes\` |
| 3 | the service cannot be reached, or refused the request: a wrong token, no such job |
| 130, 143, 141 | interrupted, terminated, or the reader of the output is gone |

## Completion

\`\`\`sh no-run
source <(signalbox completion bash)                                        # in ~/.bashrc
signalbox completion zsh > ~/.zfunc/_signalbox                             # with ~/.zfunc in $fpath, before compinit
signalbox completion fish > ~/.config/fish/completions/signalbox.fish
\`\`\`

Completion works for the command \`signalbox\`. \`npm link\` in the clone puts it on the path; it then runs on the machine's own Node, 22.18
or later.

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
  const table = rows.length > 0 ? `\n\n| option | meaning |\n|---|---|\n${rows.join("\n")}` : "";
  const words = help.commandUsage(command).replace(" [options]", "").replace(" [command]", "");
  return `### \`${words}\`

${command.description()}

\`\`\`sh no-run
${examplesOf(command).join("\n")}
\`\`\`${table}`;
}
