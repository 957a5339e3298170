/** Loaded into a process: while it is told so, whatever it serves over HTTP leaves something behind. */
import { subscribe } from "node:diagnostics_channel";

/** The message that has it begin, and that has it end and give back what is left. */
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
