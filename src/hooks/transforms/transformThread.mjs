import { statSync } from "node:fs";
import { registerHooks } from "node:module";
import { StringDecoder } from "node:string_decoder";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { describeThrown } from "./transformFault.mjs";
import { writeFrame } from "./transformFrames.mjs";

// The thread of one module, which runs one job after the other. This file and all its imports are plain JavaScript: the
// first TypeScript file costs a thread about 70 ms and 20 MiB, which transforms in JavaScript need not pay.

/** @typedef {{ name: string | undefined, input: unknown }} Job */

const MAX_OUTPUT_BYTES = 64 * 1024;

const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);
const { path, dir } = /** @type {{ path: string, dir: string }} */ (workerData);

Error.stackTraceLimit = 50;

let outputLeft = MAX_OUTPUT_BYTES;
for (const stream of /** @type {const} */ (["stdout", "stderr"])) {
  const decoder = new StringDecoder();
  // Only the target of the streams is replaced, because it needs the event loop. Node relies on the streams themselves.
  process[stream]._writev = (chunks, done) => {
    const bytes = Buffer.concat(chunks.map(({ chunk, encoding }) => Buffer.from(chunk, encoding)));
    print(stream, decoder.write(bytes));
    done();
  };
}
process.on("warning", ({ name, message, ...rest }) => {
  const isExpected = name === "ExperimentalWarning" || ("code" in rest && rest.code === "MODULE_TYPELESS_PACKAGE_JSON");
  if (!isExpected) process.stderr.write(`${name}: ${message}\n`);
});

/** @param {"stdout" | "stderr"} stream @param {string} text */
function print(stream, text) {
  if (text === "" || outputLeft < 0) return;
  writeFrame({ type: "output", stream, text: text.slice(0, outputLeft) });
  outputLeft -= Buffer.byteLength(text);
  if (outputLeft < 0) writeFrame({ type: "truncated" });
}

/**
 * The stamps of all loaded files, and of symbolic links that lead to them, taken just before each was loaded. They are taken
 * in the `resolve` hook, because a `load` hook would give CommonJS modules another `require` (Node 22).
 * @type {Map<string, string>}
 */
const loaded = new Map();
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    recordStamp(resolved.url);
    if (specifier.startsWith(".") && context.parentURL) recordStamp(new URL(specifier, context.parentURL).href);
    return resolved;
  },
});

/** @param {string} url */
function recordStamp(url) {
  if (!url.startsWith("file:")) return;
  const file = fileURLToPath(url);
  if (!loaded.has(file)) loaded.set(file, stamp(file));
}

/** Returns a text that changes with the file. @param {string} file */
function stamp(file) {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats ? [stats.mtimeNs, stats.ctimeNs, stats.size, stats.ino].join() : "";
}

/** @param {string} fault @returns {import("./transformFrames.mjs").Frame} */
const failed = (fault, endsThread = false) => ({ type: "end", kind: "failed", fault, endsThread });

/** @param {Job} job @returns {Promise<import("./transformFrames.mjs").Frame>} */
async function runJob({ name, input }) {
  for (const [file, loadedStamp] of loaded) if (stamp(file) !== loadedStamp) return { type: "stale" };
  outputLeft = MAX_OUTPUT_BYTES;
  writeFrame({ type: "started" });
  /** @type {Record<string, any>} */
  let module;
  try {
    module = await import(pathToFileURL(path).href);
  } catch (error) {
    // Node caches a failed load even if the missing file appears later, so the thread must not be used again.
    return failed(`could not be loaded: ${describeThrown(error, dir, loaded.keys())}`, true);
  }
  const transform = findTransform(module, name);
  if (typeof transform !== "function") {
    return failed(`has no ${name === undefined ? "default export" : `export ${name}`} that is a function`);
  }
  let value;
  try {
    value = await transform(input);
  } catch (error) {
    return failed(`failed: ${describeThrown(error, dir, loaded.keys())}`);
  }
  if (value === undefined) return { type: "end", kind: "kept" };
  if (value === null) return { type: "end", kind: "dropped" };
  const kind = Object.prototype.toString.call(value).slice("[object ".length, -1);
  if (typeof value === "object" && kind === "Object") return { type: "end", kind: "result", value };
  const returned = typeof value === "object" ? `${/^[AEIOU]/.test(kind) ? "an" : "a"} ${kind}` : `a ${typeof value}`;
  return failed(`returned ${returned}: it may return an object, null to drop the request, or undefined to keep it`);
}

/** Also looks inside the default export: Node does not detect all names that a CommonJS module exports. @param {Record<string, any>} module @param {string=} name */
function findTransform(module, name) {
  if (name !== undefined) return module[name] ?? module.default?.[name];
  return typeof module.default === "function" ? module.default : module.default?.default;
}

port.on("message", async (/** @type {Job} */ job) => {
  const frame = await runJob(job);
  try {
    writeFrame(frame);
  } catch (error) {
    const fault = `returned a value that cannot be passed on: ${describeThrown(error, dir)}`;
    writeFrame(failed(fault));
  }
  port.postMessage("idle");
});
