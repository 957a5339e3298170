import type { Command } from "commander";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { completedCommands } from "./tree.ts";
import { zshScript } from "./zsh.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

export type Shell = keyof typeof SCRIPTS;

/**
 * Returns the script with which a shell completes commands and options. It is self-contained, so that a Tab starts no process.
 */
export const completionScript = (program: Command, shell: Shell): string =>
  SCRIPTS[shell](program.name(), completedCommands(program));
