import { createRequire } from "node:module";
import type { Socket } from "node:net";

interface DriverConnection {
  readonly closed: boolean;
  readonly socket: Socket;
  cleanup?(error: Error): void;
}

/**
 * The driver versions that need the patch. Other versions are not patched, and test/models/db/patchDriverStuckWrite.test.ts
 * fails with a message on whether the driver still waits forever. Then extend the range, or delete this file and its test.
 */
export const PATCHED_VERSIONS = /^7\.[89]\./;

/**
 * Patches the MongoDB driver, so that a command fails whose write began just before its connection was found closed. The
 * driver (Connection.writeCommand) takes the `false` that a destroyed socket's write() returns for a full buffer, waits for
 * `drain` or `error`, which a destroyed socket never emits, and keeps the connection's place in the pool. Must be called once.
 *
 * No upstream ticket describes it. The wait for `drain` came with https://github.com/mongodb/node-mongodb-native/pull/4022.
 */
export function patchDriverStuckWrite(): void {
  const driver = createRequire(import.meta.resolve("mongoose"));
  if (!PATCHED_VERSIONS.test(driver("mongodb/package.json").version)) return;
  const { prototype } = driver("mongodb/lib/cmap/connection.js").Connection as { prototype: DriverConnection };
  const { cleanup } = prototype;
  if (!cleanup) return;
  prototype.cleanup = function (error) {
    const wasClosed = this.closed;
    cleanup.call(this, error);
    if (!wasClosed) this.socket.emit("error", error); // the driver's own listener ignores errors after the cleanup
  };
}
