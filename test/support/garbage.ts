import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects garbage until the objects are gone, at most ten times. Returns the number that is left. */
export async function countAlive(objects: readonly WeakRef<object>[]): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const alive = () => objects.filter((object) => object.deref() !== undefined).length;
  for (let i = 0; i < 10; i++) {
    await turn(); // deref() keeps an object alive until the end of the current job.
    collect();
    await turn();
  }
  return alive();
}
