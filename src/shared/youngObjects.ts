import { setFlagsFromString } from "node:v8";

/**
 * Has V8 make every object among the young ones. By default it makes those of a kind of which many have outlived a collection
 * among the old right away. In a server under load these are the parts of requests under way, dead a moment later; but what
 * is old, dead or not, keeps whatever it points to until the next full collection. Whether it came to that was up to chance
 * at a process's start: a tenth of all that was made was then copied twice, which took a tenth of the process's time. To be
 * called as a process begins; what V8 has decided by then stays.
 * Source: https://chromium.googlesource.com/v8/v8/+/refs/heads/main/src/heap/pretenuring-handler.cc
 */
export function keepObjectsYoung(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
}
