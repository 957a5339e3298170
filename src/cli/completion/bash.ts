import { type CompletedCommand, choicePlaces, placesOf } from "./tree.ts";

/** Returns the script for bash 3.2 and later, with or without the package bash-completion. */
export function bashScript(name: string, commands: readonly CompletedCommand[]): string {
  const paths = commands.filter(({ path }) => path !== "").map(({ path }) => completionPath(path));
  const files = placesOf(commands, (value) => value === "file");
  const free = placesOf(commands, (value) => value === "free");
  const values = placesOf(commands, (value) => value !== "none");
  return `# Completion of ${name} for bash: source <(${name} completion bash)
_${name}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at= words= more= i
  local IFS=$' \\n'
  COMPREPLY=()
  # bash takes --option=value apart
  if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i-1]}" in
      ${pattern(values)}) continue ;;
    esac
    case "$at \${COMP_WORDS[i]}" in
      ${pattern(paths)}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at $prev" in
${choicePlaces(commands)
  .map(({ words, places }) => `    ${pattern(places)}) COMPREPLY=($(compgen -W ${quoted(words)} -- "$cur")); return ;;`)
  .join("\n")}
    ${pattern(files)}) IFS=$'\\n'; compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- "$cur")); return ;;
    ${pattern(free)}) return ;;
  esac
  case "$at" in
${commands
  .map(({ path, subcommands, choices, options }) => {
    const words = [...subcommands.map((one) => one.name), ...choices];
    return `    '${path}') words=${quoted(words)} more=${quoted(options.flatMap(({ names }) => names))} ;;`;
  })
  .join("\n")}
  esac
  if [[ $cur == -* || -z $words ]]; then words=$more; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _${name} ${name}
`;
}

/** Returns a path in the form in which the script matches it: the path so far, a blank, and one more word. */
export const completionPath = (path: string): string => (path.includes(" ") ? path : ` ${path}`);

const quoted = (words: readonly string[]): string => `'${words.join(" ")}'`;
const pattern = (places: readonly string[]): string => places.map((place) => `'${place}'`).join("|");
