import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { connectDatabase } from "../../../src/models/database.ts";
import { mongoUri, redisUrl } from "../../support/servers/servers.ts";

/** The limit of this machine. */
const CORE_DUMPS_ALLOWED = "ulimit -S -c $(ulimit -H -c)";
const LINES = readFileSync("Procfile", "utf8").trim().split("\n");

describe("a line of the Procfile", () => {
  let servers: Record<string, string>;
  before(async () => {
    const MONGODB_URI = await mongoUri(`test-${randomUUID()}`);
    const database = await connectDatabase(MONGODB_URI);
    await database.prepare();
    await database.close();
    servers = { MONGODB_URI, REDIS_URL: await redisUrl() };
  });

  for (const name of ["web", "worker"]) {
    it(`${name}: allows no core dump, stops with the process that started it, and leaves nothing running`, async () => {
      const env = { ...process.env, ...servers, PORT: "0", LOG_LEVEL: "info" };
      const command = LINES.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? "";
      const started = spawn("sh", ["-c", `${CORE_DUMPS_ALLOWED}; exec ${command}`], {
        env,
        stdio: ["ignore", "pipe", "inherit"],
      });

      const pid = await pidOf(started.stdout);
      const limits = process.platform === "linux" && readFileSync(`/proc/${pid}/limits`, "utf8");
      started.kill("SIGTERM");
      const [code] = await once(started, "exit");

      if (limits) expect(limits).to.match(/^Max core file size +0 +0 /m);
      expect(code).to.equal(0);
      expect(() => process.kill(pid, 0)).to.throw("ESRCH");
    });
  }
});

/** Returns the id of the process that logs that it is ready. */
async function pidOf(output: NodeJS.ReadableStream): Promise<number> {
  for await (const line of createInterface({ input: output })) {
    if (line.startsWith("{") && /is ready/.test(line)) return (JSON.parse(line) as { pid: number }).pid;
  }
  throw new Error("it ended before it was ready");
}
