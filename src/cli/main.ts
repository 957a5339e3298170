#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { join } from "node:path";

// Most of the time of a start is loading code. The cache applies to modules loaded after this line and in child processes.
const { directory } = enableCompileCache(join(import.meta.dirname, "..", "..", "node_modules", ".cache", "compiled"));
const { runCommandLine } = await import("./run.ts");
const { EXIT } = await import("./exit.ts");

async function environment(): Promise<NodeJS.ProcessEnv> {
  const { loadDotEnv } = await import("../shared/config/load.ts");
  const env = { ...process.env }; // `signalbox run` gives its program only what it was given itself
  loadDotEnv(env);
  return { ...(directory && { NODE_COMPILE_CACHE: directory }), MALLOC_ARENA_MAX: "2", ...env };
}

process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  if (code === "EPIPE") process.exit(EXIT.outputClosed); // the reader has closed the pipe, such as `head`
  process.stderr.write(`The output cannot be written (${code}).\n`);
  process.exit(EXIT.failed);
});

await runCommandLine(process.argv.slice(2), environment);
