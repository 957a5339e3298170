import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as (options: object) => void;

/** Returns the number of objects that are still reachable after a garbage collection. */
export async function countKept(refs: readonly WeakRef<object>[]): Promise<number> {
  for (let round = 0; round < 3; round++) {
    await turn(); // deref() keeps an object alive until the end of the current job.
    collect({ type: "major", execution: "sync" });
  }
  return refs.filter((ref) => ref.deref() !== undefined).length;
}
