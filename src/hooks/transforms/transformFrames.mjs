import { writeSync } from "node:fs";
import { deserialize, serialize } from "node:v8";

/**
 * A message from a transform's thread to the service. Frames are written to a pipe of their own, so that they arrive in
 * order and none is lost when the thread ends right after.
 *
 * - `started`: the job has started.
 * - `stale`: a loaded file has changed, so the job must run on a new thread.
 * - `output`: text that the job printed; `truncated`: further output is dropped.
 * - `end`: the outcome of the job; see ThreadOutcome.
 * - `died`: the thread has ended; `fault` completes the sentence "The transform x …".
 * @typedef {(
 *   | { type: "started" }
 *   | { type: "stale" }
 *   | { type: "output", stream: "stdout" | "stderr", text: string }
 *   | { type: "truncated" }
 *   | { type: "end", kind: "kept" | "dropped" }
 *   | { type: "end", kind: "result", value: unknown }
 *   | { type: "end", kind: "failed", fault: string, endsThread: boolean }
 *   | { type: "died", fault: string }
 * )} Frame
 */

/** The file descriptor of the pipe in the thread's process. */
export const FRAMES_FD = 3;

/** The signal with which a thread's process kills itself at the memory limit. It works even while the thread is busy. */
export const OUT_OF_MEMORY = "SIGUSR2";

const MAX_FRAME_BYTES = 16 * 1024 * 1024;

/**
 * Writes a frame and blocks until the pipe has taken it.
 * @param {Frame} frame
 * @throws the error of v8.serialize if a value cannot be cloned; RangeError if the frame is larger than 16 MiB
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
 * Reads frames as they arrive.
 * @param {import("node:stream").Readable} stream
 * @param {(frame: Frame) => void} onFrame
 * @param {() => void} onGarbage called once if data is not a frame; later data is discarded
 */
export function readFrames(stream, onFrame, onGarbage) {
  /** @type {Buffer[]} */
  let chunks = [];
  let size = 0;
  let needed = 4;
  const onData = (/** @type {Buffer} */ chunk) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size < needed) return;
    let bytes = Buffer.concat(chunks);
    for (needed = 4; bytes.length >= needed; needed = 4) {
      needed += bytes.readUInt32BE();
      if (bytes.length < needed) break;
      const frame = parse(bytes.subarray(4, needed));
      if (!frame || needed > 4 + MAX_FRAME_BYTES) {
        stream.off("data", onData).resume();
        return onGarbage();
      }
      bytes = bytes.subarray(needed);
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
