import { registerHooks } from "node:module";
import { StringDecoder } from "node:string_decoder";
import { fileURLToPath, pathToFileURL } from "node:url";
import { deserialize, serialize } from "node:v8";
import { parentPort, workerData } from "node:worker_threads";
import { describeThrown } from "./transformFault.mjs";

// The thread of one run. This file and all its imports are plain JavaScript: the first TypeScript file costs a thread about
// 70 ms and 20 MiB, which transforms in JavaScript need not pay.

/** @typedef {import("./transformMain.mjs").ThreadOutcome} ThreadOutcome */

const MAX_OUTPUT_BYTES = 64 * 1024;
const MAX_RESULT_BYTES = 16 * 1024 * 1024;

const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);
/** @type {NonNullable<import("./transformMain.mjs").Command["start"]>} */
const { dir, path, name, input } = workerData;

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
  const printed = text.slice(0, outputLeft);
  outputLeft -= Buffer.byteLength(text);
  port.postMessage({ type: "output", stream, text: printed, truncated: outputLeft < 0 });
}

/** The files that were loaded or looked for, among which is the one with a syntax error. @type {Set<string>} */
const files = new Set();
registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context);
    if (resolved.url.startsWith("file:")) files.add(fileURLToPath(resolved.url));
    return resolved;
  },
});

/** @param {string} fault @returns {ThreadOutcome} */
const failed = (fault) => ({ kind: "failed", fault });

/** @returns {Promise<ThreadOutcome>} */
async function run() {
  /** @type {Record<string, any>} */
  let module;
  try {
    module = await import(pathToFileURL(path).href);
  } catch (error) {
    return failed(`could not be loaded: ${describeThrown(error, dir, files)}`);
  }
  const transform = findTransform(module);
  if (typeof transform !== "function") {
    return failed(`has no ${name === undefined ? "default export" : `export ${name}`} that is a function`);
  }
  let value;
  try {
    value = await transform(deserialize(input));
  } catch (error) {
    return failed(`failed: ${describeThrown(error, dir, files)}`);
  }
  if (value === undefined) return { kind: "kept" };
  if (value === null) return { kind: "dropped" };
  const kind = Object.prototype.toString.call(value).slice("[object ".length, -1);
  if (typeof value === "object" && kind === "Object") return resultOf(value);
  const returned = typeof value === "object" ? `${/^[AEIOU]/.test(kind) ? "an" : "a"} ${kind}` : `a ${typeof value}`;
  return failed(`returned ${returned}: it may return an object, null to drop the request, or undefined to keep it`);
}

/** @param {object} value @returns {ThreadOutcome} */
function resultOf(value) {
  try {
    const bytes = serialize(value);
    if (bytes.length > MAX_RESULT_BYTES) throw new RangeError("it is larger than 16 MiB");
    return { kind: "result", value: bytes };
  } catch (error) {
    return failed(`returned a value that cannot be passed on: ${describeThrown(error, dir)}`);
  }
}

/** Also looks inside the default export: Node does not detect all names that a CommonJS module exports. @param {Record<string, any>} module */
function findTransform(module) {
  if (name !== undefined) return module[name] ?? module.default?.[name];
  return typeof module.default === "function" ? module.default : module.default?.default;
}

port.ref(); // A promise that never settles is ended by the time limit, not because nothing is left to do.
port.postMessage({ type: "started" });
const outcome = await run();
// The outcome and an uncaught error take different ways to the process, so an error that comes later could arrive first.
process.on("uncaughtException", () => {});
port.postMessage({ outcome });
