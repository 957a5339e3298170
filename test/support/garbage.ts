import { setImmediate as turn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as (options: object) => void;

/** Number of collections: an object may survive the first ones through references from others that are collected. */
const COLLECTIONS = 10;

/** Returns the number of objects that are still reachable after several garbage collections. */
export async function countAlive(objects: readonly WeakRef<object>[]): Promise<number> {
  for (let i = 0; i < COLLECTIONS; i++) {
    await turn(); // deref() keeps an object alive until the end of the current job.
    collect({ type: "major", execution: "sync" });
  }
  await turn();
  return objects.filter((object) => object.deref() !== undefined).length;
}
