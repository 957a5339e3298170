import type { Command } from "commander";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { completedCommands } from "./tree.ts";
import { zshScript } from "./zsh.ts";

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

export type Shell = keyof typeof SCRIPTS;

/**
 * What has a shell complete the program's commands and options. It holds all it needs, so that a Tab starts no process.
 */
export const completionScript = (program: Command, shell: Shell): string =>
  SCRIPTS[shell](program.name(), completedCommands(program));
