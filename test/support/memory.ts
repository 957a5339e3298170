import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as (options: object) => void;

/** How many of them something still leads to, after a collection of all garbage. */
export async function countKept(refs: readonly WeakRef<object>[]): Promise<number> {
  for (let round = 0; round < 3; round++) {
    await turn(); // an object that a WeakRef has been asked for is kept until the turn's end
    collect({ type: "major", execution: "sync" });
  }
  return refs.filter((ref) => ref.deref() !== undefined).length;
}
