import { totalmem } from "node:os";

const BYTES_OF_MIB = 1024 * 1024;

/** Heap of a process with enough memory. A limit of several GiB would let the heap grow fourfold before it is collected. */
const MAX_HEAP_MIB = 1_024;
/** Below this the process would mostly collect garbage. */
const MIN_HEAP_MIB = 128;
/** Share of the memory for the heap. The rest is for young objects, code, buffers, and npm, which starts the process. */
const HEAP_SHARE = 0.6;
/** Size of a semi-space. Smaller ones save memory and cost requests. */
const SEMI_SPACE_MIB = 8;

/**
 * Returns the options of Node that bound the heap of a web or worker process, so that it fits the memory of its container.
 * @param env its `MEMORY_AVAILABLE` is the memory in MiB, as Heroku sets it, if it is less than the system reports
 * @param processes number of processes that share the memory
 */
export function heapOptions(env: Readonly<Record<string, string | undefined>>, processes = 1): string[] {
  const availableMiB = Math.min(
    totalmem() / BYTES_OF_MIB,
    process.constrainedMemory() / BYTES_OF_MIB || Number.POSITIVE_INFINITY, // 0 when the system does not report it
    Number(env.MEMORY_AVAILABLE) || Number.POSITIVE_INFINITY,
  );
  const shareMiB = Math.floor((availableMiB * HEAP_SHARE) / processes);
  const heapMiB = Math.max(MIN_HEAP_MIB, Math.min(MAX_HEAP_MIB, shareMiB));
  return [`--max-old-space-size=${heapMiB}`, `--max-semi-space-size=${SEMI_SPACE_MIB}`];
}
