import { Argument, type Command } from "commander";
import { type Define, withExamples } from "../../command.ts";
import { bashScript } from "../../completion/bash.ts";
import { fishScript } from "../../completion/fish.ts";
import { completedCommands } from "../../completion/tree.ts";
import { zshScript } from "../../completion/zsh.ts";

/** `completion SHELL` */
export const completion: Define = (command) =>
  withExamples(
    command.addArgument(new Argument("<shell>", "shell to complete in").choices(["bash", "zsh", "fish"])),
    "source <(signalbox completion bash)",
    "signalbox completion zsh > ~/.zfunc/_signalbox",
    "signalbox completion fish > ~/.config/fish/completions/signalbox.fish",
  ).action((shell: Shell) => {
    if (command.parent) process.stdout.write(completionScript(command.parent, shell));
  });

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

export type Shell = keyof typeof SCRIPTS;

/**
 * Returns the script with which a shell completes commands and options. It is self-contained, so that a Tab starts no process.
 */
export const completionScript = (program: Command, shell: Shell): string =>
  SCRIPTS[shell](program.name(), completedCommands(program));
