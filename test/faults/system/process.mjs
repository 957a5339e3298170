import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Runs the given main module in a process whose clock is shifted by the value that it receives over IPC,
 * `{ clockMs }`. Timers are not affected, as when a machine's clock is set. `{ collect }` is answered with the memory that
 * the process holds after a garbage collection, `{ heldBytes }`.
 */
const RealDate = Date;
let aheadMs = 0;
const now = () => RealDate.now() + aheadMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length > 0 ? args : [now()], newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, key, receiver) => (key === "now" ? now : Reflect.get(target, key, receiver)),
});
RealDate.prototype.constructor = Date;

process.on("message", (/** @type {{ clockMs?: number, collect?: boolean }} */ { clockMs, collect }) => {
  if (clockMs !== undefined) aheadMs = clockMs;
  if (collect) process.send?.({ heldBytes: heldBytes() });
});
process.channel?.unref();

function heldBytes() {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

await import(pathToFileURL(resolve(process.argv[2] ?? "")).href);
