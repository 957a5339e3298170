import { completionPath } from "./bash.ts";
import { type CompletedCommand, choicePlaces, placesOf } from "./tree.ts";

/** Returns the script for zsh, to be stored in $fpath or sourced after compinit. */
export function zshScript(name: string, commands: readonly CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path !== "").map(({ path }) => completionPath(path));
  const files = placesOf(commands, (value) => value === "file");
  const free = placesOf(commands, (value) => value === "free");
  const values = placesOf(commands, (value) => value !== "none");
  return `#compdef ${name}
# Completion of ${name} for zsh: ${name} completion zsh > a file _${name} in a directory of $fpath
_${name}() {
  local at='' previous=\${words[CURRENT-1]} i
  local -a subcommands flags
  if [[ $PREFIX == --*=* ]]; then
    previous=\${PREFIX%%=*}
    compset -P '*='
  fi
  for ((i = 2; i < CURRENT; i++)); do
    case "$at \${words[i-1]}" in
      ${pattern(values)}) continue ;;
    esac
    case "$at \${words[i]}" in
      ${pattern(paths)}) at="\${at:+$at }\${words[i]}" ;;
    esac
  done
  case "$at $previous" in
${choicePlaces(commands)
  .map(({ words, places }) => `    ${pattern(places)}) compadd -- ${words.map(quote).join(" ")}; return ;;`)
  .join("\n")}
    ${pattern(files)}) _files; return ;;
    ${pattern(free)}) _message 'value'; return ;;
  esac
  case "$at" in
${commands.map(branch).join("\n")}
  esac
  if [[ $PREFIX != -* && \${#subcommands} -gt 0 ]]; then
    _describe -t commands command subcommands
  else
    _describe -o -t options option flags
  fi
}
if [[ "\${funcstack[1]}" == "_${name}" ]]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

function branch({ path, subcommands, choices, options }: CompletedCommand): string {
  const words = [...subcommands.map((one) => described(one.name, one.description)), ...choices.map(quote)];
  const flags = options.flatMap(({ names, description }) => names.map((name) => described(name, description)));
  return `    '${path}')
      subcommands=(${words.join(" ")})
      flags=(${flags.join(" ")}) ;;`;
}

const described = (word: string, description: string) => quote(`${word}:${description}`);
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const pattern = (places: readonly string[]) => places.map(quote).join("|");
