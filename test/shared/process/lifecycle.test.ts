import { spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect } from "chai";

/** A process that is stopped in the middle of its start, whose next step then fails because its connections are closed. */
const SCRIPT = `
import { setImmediate } from "node:timers/promises";
import { runProcess } from ${JSON.stringify(resolve("src/shared/process/lifecycle.ts"))};
void runProcess((lifecycle) => new Promise((_, reject) => {
  lifecycle.onClose("the last", async () => console.log("closed"));
  lifecycle.onClose("a server", async () => {
    const later = performance.now() + 1_100; // Beyond a second, a further signal ends the process at once.
    performance.now = () => later;
    reject(new Error("the connection is closed"));
    await setImmediate();
  });
  process.kill(process.pid, "SIGTERM");
  setInterval(() => {}, 1_000);
}));
`;

describe("runProcess: a process that is stopped while it starts", () => {
  it("closes its resources, exits with 0, and does not print the error of the step that failed", async () => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", SCRIPT], { stdio: ["ignore", "pipe", "pipe"] });

    const [[code], stdout, stderr] = await Promise.all([once(child, "exit"), text(child.stdout), text(child.stderr)]);

    expect({ code, stdout, stderr }).to.deep.equal({ code: 0, stdout: "closed\n", stderr: "" });
  });
});

describe("runProcess: a process whose parent is gone before it listens for that", () => {
  const ORPHAN = `
import { runProcess } from ${JSON.stringify(resolve("src/shared/process/lifecycle.ts"))};
process.disconnect();
await runProcess(async () => {
  console.log("started");
  setInterval(() => {}, 1_000);
  return { ready: {}, deadlineMs: 1_000, onError() {} };
});
`;

  it("does not start, and exits with 0", async () => {
    const child = spawn(process.execPath, ["--input-type=module", "-e", ORPHAN], {
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });

    const [[code], stdout] = await Promise.all([once(child, "exit"), text(child.stdout as Readable)]);

    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: "" });
  });
});
