import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { type Program, runProgram } from "../examples/program.ts";
import { startApp } from "../support/app.ts";
import { freePort } from "../support/servers/servers.ts";

describe("signalbox/client: a program that ends while the service is unavailable", () => {
  let room: string;
  const started: Program[] = [];
  before(() => {
    room = mkdtempSync(join(tmpdir(), "signalbox-program-"));
  });
  afterEach(() => {
    for (const { kill } of started.splice(0)) kill();
  });
  after(() => rmSync(room, { recursive: true }));

  const program = (port: number, body: string) => {
    const file = join(room, "program.mjs");
    const library = pathToFileURL("src/client/client.ts").href;
    const made = `const client = createClient({ url: "http://127.0.0.1:${port}" });`;
    writeFileSync(
      file,
      `import { createClient } from "${library}";\n${made}\n${body}\nprocess.stdout.write("at the end");`,
    );
    const program = runProgram(file, []);
    started.push(program);
    return program;
  };

  it("exits when only progress is unsent", async () => {
    const { code, stdout } = await program(
      await freePort(),
      `const step = client.job("j").step("s", { name: "S" });
       for (let i = 0; i < 100; i++) step.progress(i);`,
    ).ended;

    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: "at the end" });
  });

  it("stays alive until a completion is accepted, even if it is not awaited", async () => {
    const port = await freePort();
    const away = createServer((socket) => socket.destroy()).listen(port, "127.0.0.1");
    const { ended } = program(
      port,
      `const job = client.job("j");
       job.create({ name: "A job" }).then(() => {
         const step = job.step("s", { name: "S", from: 0, to: 100 });
         step.progress(50);
         step.complete({ output: { ok: true }, message: "done" });
       });`,
    );
    await once(away, "connection");
    away.close();
    await once(away, "close");
    const app = await startApp({ port });

    const { code, stdout } = await ended;

    const { body } = await app.call("GET", "/api/jobs/j");
    await app.close();
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: "at the end" });
    expect(body).to.deep.include({ status: "completed", message: "done", output: { ok: true } });
  });
});
