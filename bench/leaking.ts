/** Loaded into a process to make it leak memory with each HTTP request, to test the leak detection. */
import { subscribe } from "node:diagnostics_channel";

/** The message that starts the leak, and when it is sent again, stops it and frees the memory. */
export const LEAK = "bench:leak";

const BYTES = 1_000_000;
const left: Buffer[] = [];
let isLeaking = false;

process.on("message", (message) => {
  if (message !== LEAK) return;
  isLeaking = !isLeaking;
  left.length = 0;
});
subscribe("http.server.request.start", () => isLeaking && left.push(Buffer.alloc(BYTES)));
