import { spawn } from "node:child_process";
import { Socket } from "node:net";
import type { StreamName } from "./outputTail.ts";

/** Size of one read: the capacity of Linux's pipes. */
const BUFFER_BYTES = 64 * 1024;

/**
 * How long, and for how many bytes, output is still read after its reader has gone, as with `| head`. A program that is about
 * to end then ends as usual; any other one gets SIGPIPE, as it would without this process.
 */
const WITHOUT_READER_MS = 10_000;
const WITHOUT_READER_BYTES = 2 ** 20;

/** A stream of the program on its way to the same stream of this process. */
export interface OutputStream {
  /** Resolves once no process has the stream open any more, and its output was written or discarded. */
  readonly closed: Promise<void>;
  /** Leaves the stream to a `cat` that outlives this process, for processes that still write to it. */
  handOver(): Promise<void>;
}

/**
 * Passes a stream of the program on, as fast as it can be written. Once it cannot be written, because the disk is full or the
 * terminal has gone, it is read and discarded.
 * @param from the stream, or the file descriptor to read it from
 * @param onChunk receives each chunk, whose memory is used again afterwards
 */
export function passOn(name: StreamName, from: number | Socket, onChunk: (chunk: Buffer) => void): OutputStream {
  const target = process[name];
  let hasFailed = false;
  let isHandedOver = false;
  let graceTimer: NodeJS.Timeout | undefined;
  let bytesWithoutReader = 0;
  let written = Promise.resolve();

  /** Returns whether the chunk has been written, so that its memory may be used again. */
  const write = (chunk: Buffer): boolean => {
    onChunk(chunk);
    if (graceTimer) bytesWithoutReader += chunk.length;
    if (bytesWithoutReader > WITHOUT_READER_BYTES) source.destroy();
    if (hasFailed) return true;
    written = new Promise((resolve) => target.write(chunk, () => resolve()));
    if (target.writableLength === 0) return true;
    void written.then(() => {
      if (!isHandedOver) source.resume();
    });
    return false;
  };
  const source = typeof from === "number" ? readInto(from, Buffer.allocUnsafeSlow(BUFFER_BYTES), write) : from;
  if (typeof from !== "number") {
    source.on("data", (chunk: Buffer) => {
      if (!write(chunk)) source.pause();
    });
  }
  source.resume();

  const onError = ({ code }: NodeJS.ErrnoException) => {
    hasFailed = true;
    if (code === "EPIPE") graceTimer ??= setTimeout(() => source.destroy(), WITHOUT_READER_MS).unref();
  };
  // Replaces the listener of main.ts, which ends the process.
  target.removeAllListeners("error").on("error", onError);

  const closed = new Promise<void>((resolve) => source.once("close", resolve));
  return {
    closed: closed.then(() => {
      clearTimeout(graceTimer);
      return written;
    }),
    async handOver() {
      isHandedOver = true;
      source.pause();
      await written;
      if (!source.destroyed && !graceTimer) {
        const to = hasFailed ? "ignore" : { stdout: 1, stderr: 2 }[name];
        spawn("cat", { cwd: "/", detached: true, stdio: [source, to, "ignore"] })
          .on("error", () => {})
          .unref();
      }
      source.destroy();
    },
  };
}

/** Reads a pipe into one buffer, which costs a third of the time of a new one for each chunk. */
const readInto = (fd: number, buffer: Buffer, onRead: (chunk: Buffer) => boolean): Socket =>
  new Socket({
    fd,
    readable: true,
    writable: false,
    onread: { buffer, callback: (size) => onRead(buffer.subarray(0, size)) },
  } as ConstructorParameters<typeof Socket>[0]);
