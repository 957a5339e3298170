/** A process that fills its heap, drops what it has filled it with, and returns memory while it is idle. */
import { releaseMemoryWhenIdle } from "../../../src/shared/process/releaseMemory.ts";

const filled = Array.from({ length: 1_000_000 }, (_, i) => ({ text: `${i}` }));
const filledBytes = process.memoryUsage.rss();
filled.length = 0;
releaseMemoryWhenIdle(50);
setInterval(() => process.send?.({ filledBytes, bytes: process.memoryUsage.rss() }), 50);
process.on("disconnect", () => process.exit());
