import JSON5 from "json5";
import { ConfigError, parseConfig, parseFile } from "../../../config/load.ts";
import { type Define, withExamples } from "../../command.ts";
import { importOpenClaw } from "../../configFile/openclaw.ts";
import { readInput } from "../../terminal/readInput.ts";
import { printNote } from "../list.ts";

/** `config import FILE`: prints a configuration of OpenClaw as one of Signalbox, and notes what it left out. */
export const importConfig: Define = (command, environment) =>
  withExamples(
    command.argument("<file>", "configuration of OpenClaw, or - for standard input"),
    "signalbox config import ~/.openclaw/openclaw.json > signalbox.json5",
  ).action(async (file: string) => {
    const env = await environment();
    const { config, left } = importOpenClaw(parseFile(readInput(file, "The configuration"), file));
    const text = JSON5.stringify(config, null, 2);
    console.log(text);
    for (const line of left) printNote(`left out: ${line}`);
    for (const problem of problemsOf(text, env)) printNote(`to correct: ${problem}`);
  });

function problemsOf(text: string, env: NodeJS.ProcessEnv): readonly string[] {
  try {
    parseConfig(text, env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}
