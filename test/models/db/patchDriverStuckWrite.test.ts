import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { expect } from "chai";
import { PATCHED_VERSIONS } from "../../../src/models/db/patchDriverStuckWrite.ts";
import { mongoUri } from "../../support/servers/servers.ts";

/**
 * Sends a command over a connection that closes in the same turn of the event loop, then another over a new connection.
 * Prints how the first ended once the second has a response.
 */
const program = (uri: string) => `
  import diagnosticsChannel from "node:diagnostics_channel";
  import mongoose from "mongoose";
  const sockets = [];
  diagnosticsChannel.subscribe("net.client.socket", ({ socket }) => sockets.push(socket));
  const connection = await mongoose.createConnection(${JSON.stringify(uri)}, { maxPoolSize: 2 }).asPromise();
  await connection.db.command({ ping: 1 });
  const closed = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)));

  for (const socket of sockets) socket.destroy();
  let ended = "waits";
  connection.db.command({ ping: 1 }).then(() => { ended = "answered"; }, (error) => { ended = error.name; });
  await Promise.all(closed);
  while ((await connection.db.command({ ping: 1 }).catch(() => undefined))?.ok !== 1);

  console.log(ended);
  process.exit();`;

/**
 * Returns how a command ends in the unpatched driver when its connection closes: "waits" if it never ends, or the name of
 * an error.
 */
async function endOfCommand(): Promise<string> {
  const uri = await mongoUri(`test-${randomUUID()}`);
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...["--no-warnings", "--input-type=module", "-e"],
    program(uri),
  ]);
  return stdout.trim();
}

describe("patchDriverStuckWrite", () => {
  it("is still needed by the installed driver", async () => {
    const { version } = createRequire(import.meta.resolve("mongoose"))("mongodb/package.json");

    const end = await endOfCommand();

    const advice = end === "waits" ? "add it to PATCHED_VERSIONS" : "delete src/models/db/patchDriverStuckWrite.ts";
    expect(end, `mongodb ${version} answers by itself: ${advice}`).to.equal("waits");
    expect(version, `mongodb ${version} waits too: ${advice}`).to.match(PATCHED_VERSIONS);
  });
});
