#!/usr/bin/env node
import module from "node:module";
import { join } from "node:path";

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(`Signalbox needs Node 22.18 or later, and this is Node ${process.versions.node}.\n`);
  process.exit(1);
}

// Most of the time of a start is loading code. The cache applies to modules loaded after this line and in child processes.
const cache = join(import.meta.dirname, "..", "..", "node_modules", ".cache", "compiled");
const { directory } = module.enableCompileCache(cache);
const { runCommandLine } = await import("./run.ts");
const { EXIT } = await import("./exit.ts");

async function environment(): Promise<NodeJS.ProcessEnv> {
  const { loadDotEnv } = await import("../config/dotEnv.ts"); // without the schema, which few commands need
  const env = { ...process.env }; // `signalbox run` gives its program only what it was given itself
  loadDotEnv(env);
  return { ...(directory && { NODE_COMPILE_CACHE: directory }), MALLOC_ARENA_MAX: "2", ...env };
}

process.stdout.on("error", ({ code }: NodeJS.ErrnoException) => {
  if (code === "EPIPE") process.exit(EXIT.outputClosed); // the reader has closed the pipe, such as `head`
  process.stderr.write(`The output cannot be written (${code}).\n`);
  process.exit(EXIT.failed);
});
process.stderr.on("error", () => {}); // nobody reads the messages, and the exit code says how the command ended

await runCommandLine(process.argv.slice(2), environment);
