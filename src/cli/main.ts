import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { Command } from "commander";
import { StartError } from "../shared/lifecycle.ts";

// a start is mostly loading code; what is loaded after this line, and in the child processes, is compiled only once
const { directory } = enableCompileCache(join(import.meta.dirname, "..", "..", "node_modules", ".cache", "compiled"));

async function environment(): Promise<NodeJS.ProcessEnv> {
  const { loadDotEnv } = await import("../shared/config.ts");
  loadDotEnv();
  return { ...(directory && { NODE_COMPILE_CACHE: directory }), ...process.env };
}

const program = new Command("signalbox").description("Job tracking and webhook gateway.");

program
  .command("start")
  .description("Run everything on this machine, with an embedded MongoDB and Redis where none is configured.")
  .option("--watch", "restart the API and the worker when a source file changes")
  .action(async (options: { watch?: true }) => {
    const { start } = await import("./commands/start.ts");
    await start(await environment(), { watch: options.watch ?? false });
  });

program
  .command("release")
  .description("Make the indexes that this version needs in the configured MongoDB.")
  .action(async () => {
    const { release } = await import("./commands/release.ts");
    await release(await environment());
  });

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`${error instanceof StartError ? error.message : ((error as Error).stack ?? error)}\n`);
  process.exitCode = 1;
}
