import { Argument } from "commander";
import { type Define, withExamples } from "../../command.ts";
import { completionScript, type Shell } from "../../completion/script.ts";

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
