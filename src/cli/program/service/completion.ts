import { Argument, type Command } from "commander";
import { withExamples } from "../examples.ts";

/** `completion SHELL` */
export function addCompletion(program: Command): void {
  const completion = program
    .command("completion")
    .description("Print the shell completion script.")
    .addArgument(new Argument("<shell>", "shell to complete in").choices(["bash", "zsh", "fish"]))
    .action(async (shell: "bash" | "zsh" | "fish") => {
      const { completionScript } = await import("../../completion/script.ts");
      process.stdout.write(completionScript(program, shell));
    });
  withExamples(
    completion,
    "source <(signalbox completion bash)",
    "signalbox completion zsh > ~/.zfunc/_signalbox",
    "signalbox completion fish > ~/.config/fish/completions/signalbox.fish",
  );
}
