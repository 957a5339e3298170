import { completionPath } from "./bash.ts";
import { type CompletedCommand, type CompletedOption, placesOf } from "./tree.ts";

/** Returns the script for fish, to be stored in ~/.config/fish/completions. */
export function fishScript(name: string, commands: readonly CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path !== "").map(({ path }) => completionPath(path));
  const values = placesOf(commands, (value) => value !== "none");
  const rule = `complete -c ${name}`;
  return `# Completion of ${name} for fish: ${name} completion fish > ~/.config/fish/completions/${name}.fish
function __${name}_at
  set -l at ''
  set -l before ''
  for word in (commandline -opc)[2..-1]
    if not contains -- "$at $before" ${values.map(quote).join(" ")}
      contains -- "$at $word" ${paths.map(quote).join(" ")}
      and set at (string trim -- "$at $word")
    end
    set before $word
  end
  test "$at" = "$argv[1]"
end
${rule} -f
${commands
  .flatMap(({ path, subcommands, choices, options }) => {
    const here = `${rule} -n ${quote(`__${name}_at ${quote(path)}`)}`;
    return [
      ...subcommands.map((one) => `${here} -a ${one.name} -d ${quote(one.description)}`),
      ...choices.map((choice) => `${here} -a ${quote(choice)}`),
      ...options.map((option) => `${here} ${flags(option)} -d ${quote(option.description)}`),
    ];
  })
  .join("\n")}
`;
}

function flags({ names, value }: CompletedOption): string {
  const named = names.map((name) => (name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`)).join(" ");
  if (value === "none") return named;
  if (value === "file") return `${named} -r -F`;
  return value === "free" ? `${named} -x` : `${named} -x -a ${quote(value.join(" "))}`;
}

const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
