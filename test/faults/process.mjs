import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * Runs the main module that it is given, in a process whose clock goes wrong by as much as it is told over IPC,
 * `{ clockMs }`. Timers go on as they did, as they do when a machine's clock is set.
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

process.on("message", (/** @type {{ clockMs?: number }} */ { clockMs }) => {
  if (clockMs !== undefined) aheadMs = clockMs;
});
process.channel?.unref();

await import(pathToFileURL(resolve(process.argv[2] ?? "")).href);
