import { createRequire } from "node:module";
import type { Socket } from "node:net";

interface DriverConnection {
  readonly closed: boolean;
  readonly socket: Socket;
  cleanup(error: Error): void;
}

/**
 * Lets an act fail that the driver had begun to write to a connection just before it knew it for closed. The driver (mongodb
 * 7.8 and 7.9, Connection.writeCommand) takes the write that a closing socket refuses for one that is to drain, waits for
 * `drain` or `error` without end, and keeps the connection's place in the pool. To be called once.
 */
export function endBrokenWrites(): void {
  const { prototype } = createRequire(import.meta.resolve("mongoose"))("mongodb/lib/cmap/connection.js").Connection as {
    prototype: DriverConnection;
  };
  const { cleanup } = prototype;
  prototype.cleanup = function (error) {
    const wasClosed = this.closed;
    cleanup.call(this, error);
    if (!wasClosed) this.socket.emit("error", error); // its own listener passes over what comes after the cleanup
  };
}
