import { statSync } from "node:fs";
import { registerHooks } from "node:module";
import { StringDecoder } from "node:string_decoder";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { describeFault } from "./transformFault.mjs";
import { writeFrame } from "./transformFrames.mjs";

// What runs on the thread of one module: it carries out one request after the other. Plain JavaScript, like all that it
// imports: the first TypeScript file costs a thread 70 ms and 20 MiB, which a transform in JavaScript then never pays.

/** @typedef {{ name: string | undefined, input: unknown }} Job */

const MAX_OUTPUT_BYTES = 64 * 1024;

const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);
const { path, dir } = /** @type {{ path: string, dir: string }} */ (workerData);

Error.stackTraceLimit = 50;

let outputLeft = MAX_OUTPUT_BYTES;
for (const stream of /** @type {const} */ (["stdout", "stderr"])) {
  const decoder = new StringDecoder();
  // Not the streams are replaced, which Node counts on, only where they write to: that goes through the event loop.
  process[stream]._writev = (chunks, done) => {
    const bytes = Buffer.concat(chunks.map(({ chunk, encoding }) => Buffer.from(chunk, encoding)));
    print(stream, decoder.write(bytes));
    done();
  };
}
process.on("warning", ({ name, message, ...rest }) => {
  const usual = name === "ExperimentalWarning" || ("code" in rest && rest.code === "MODULE_TYPELESS_PACKAGE_JSON");
  if (!usual) process.stderr.write(`${name}: ${message}\n`);
});

/** @param {"stdout" | "stderr"} stream @param {string} text */
function print(stream, text) {
  if (text === "" || outputLeft < 0) return;
  writeFrame({ type: "output", stream, text: text.slice(0, outputLeft) });
  outputLeft -= Buffer.byteLength(text);
  if (outputLeft < 0) writeFrame({ type: "flood" });
}

/**
 * Every file that was loaded, as it was just before, and what led to it if that is a symbolic link. Noted when it is
 * resolved: a hook on loading itself would give CommonJS modules another `require` (Node 22).
 * @type {Map<string, string>}
 */
const loaded = new Map();
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    note(resolved.url);
    if (specifier.startsWith(".") && context.parentURL) note(new URL(specifier, context.parentURL).href);
    return resolved;
  },
});

/** @param {string} url */
function note(url) {
  if (!url.startsWith("file:")) return;
  const file = fileURLToPath(url);
  if (!loaded.has(file)) loaded.set(file, stamp(file));
}

/** @param {string} file */
function stamp(file) {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats ? [stats.mtimeNs, stats.ctimeNs, stats.size, stats.ino].join() : "";
}

/** @param {string} fault @returns {import("./transformFrames.mjs").Frame} */
const failed = (fault, spent = false) => ({ type: "end", kind: "failed", fault, spent });

/** @param {Job} job @returns {Promise<import("./transformFrames.mjs").Frame>} */
async function carryOut({ name, input }) {
  for (const [file, seen] of loaded) if (stamp(file) !== seen) return { type: "stale" };
  outputLeft = MAX_OUTPUT_BYTES;
  writeFrame({ type: "begun" });
  /** @type {Record<string, any>} */
  let module;
  try {
    module = await import(pathToFileURL(path).href);
  } catch (error) {
    // Node keeps a failed load, also when what was missing is there later.
    return failed(`could not be loaded: ${describeFault(error, dir, loaded.keys())}`, true);
  }
  const transform = findTransform(module, name);
  if (typeof transform !== "function") {
    return failed(`has no ${name === undefined ? "default export" : `export ${name}`} that is a function`);
  }
  let value;
  try {
    value = await transform(input);
  } catch (error) {
    return failed(`failed: ${describeFault(error, dir, loaded.keys())}`);
  }
  if (value === undefined) return { type: "end", kind: "kept" };
  if (value === null) return { type: "end", kind: "dropped" };
  const kind = Object.prototype.toString.call(value).slice("[object ".length, -1);
  if (typeof value === "object" && kind === "Object") return { type: "end", kind: "result", value };
  const returned = typeof value === "object" ? `${/^[AEIOU]/.test(kind) ? "an" : "a"} ${kind}` : `a ${typeof value}`;
  return failed(`returned ${returned}: it may return an object, null to drop the request, or undefined to keep it`);
}

/** CommonJS may hide names from Node's view of its exports. @param {Record<string, any>} module @param {string=} name */
function findTransform(module, name) {
  if (name !== undefined) return module[name] ?? module.default?.[name];
  return typeof module.default === "function" ? module.default : module.default?.default;
}

port.on("message", async (/** @type {Job} */ job) => {
  const frame = await carryOut(job);
  try {
    writeFrame(frame);
  } catch (error) {
    const fault = `cannot hand over what it returned: ${describeFault(error, dir)}`;
    writeFrame(failed(fault));
  }
  port.postMessage("idle");
});
