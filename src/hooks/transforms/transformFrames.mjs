import { writeSync } from "node:fs";
import { deserialize, serialize } from "node:v8";

/**
 * What a transform's thread says to the service, one frame after the other on a pipe of its own, so that everything
 * arrives in the order in which it happened and nothing is lost when the thread ends right after.
 * @typedef {(
 *   | { type: "begun" }
 *   | { type: "stale" }
 *   | { type: "output", stream: "stdout" | "stderr", text: string }
 *   | { type: "flood" }
 *   | { type: "end", kind: "kept" | "dropped" }
 *   | { type: "end", kind: "result", value: unknown }
 *   | { type: "end", kind: "failed", fault: string, spent: boolean }
 *   | { type: "died", fault: string }
 * )} Frame
 */

/** The pipe's number in the process of the thread. */
export const FRAMES_FD = 3;

/** The signal by which the process of a thread ends itself at the memory limit: at once, whatever the thread does. */
export const OUT_OF_MEMORY = "SIGUSR2";

const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/**
 * Writes a frame, waiting for room in the pipe.
 * @param {Frame} frame
 * @throws what v8.serialize throws for a value that cannot be cloned; RangeError when it is above 16 MiB
 */
export function writeFrame(frame) {
  const body = serialize(frame);
  if (body.length > MAX_FRAME_BYTES) throw new RangeError("it is larger than 16 MiB");
  const bytes = Buffer.allocUnsafe(4 + body.length);
  bytes.writeUInt32BE(body.length);
  bytes.set(body, 4);
  for (let done = 0; done < bytes.length; ) done += writeSync(FRAMES_FD, bytes, done);
}

/**
 * Reads frames as they come.
 * @param {import("node:stream").Readable} stream
 * @param {(frame: Frame) => void} onFrame
 * @param {() => void} onGarbage what came is no frame; nothing is read any more
 */
export function readFrames(stream, onFrame, onGarbage) {
  /** @type {Buffer[]} */
  let chunks = [];
  let size = 0;
  let wanted = 4;
  const onData = (/** @type {Buffer} */ chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size < wanted) return;
    let bytes = Buffer.concat(chunks);
    for (wanted = 4; bytes.length >= wanted; wanted = 4) {
      wanted += bytes.readUInt32BE();
      if (bytes.length < wanted) break;
      const frame = parse(bytes.subarray(4, wanted));
      if (!frame || wanted > 4 + MAX_FRAME_BYTES) {
        stream.off("data", onData).resume();
        return onGarbage();
      }
      bytes = bytes.subarray(wanted);
      onFrame(frame);
    }
    chunks = [bytes];
    size = bytes.length;
  };
  stream.on("data", onData);
}

/** @param {Buffer} bytes @returns {Frame | undefined} */
function parse(bytes) {
  try {
    return deserialize(bytes);
  } catch {
    return undefined;
  }
}
