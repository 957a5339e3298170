import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { bearer, startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const TOKEN = "a-hook-token-of-length";
const API_TOKEN = "an-api-token-of-length";

/**
 * An agent that starts a build which outlives its turn, and reads the news of it in a later turn. Asked for a chain, it starts and
 * completes a job in each turn.
 */
const AGENT = `
cat > "prompt.$$"
json='Content-Type: application/json'
bearer="Authorization: Bearer $SIGNALBOX_TOKEN"
if [ "$SIGNALBOX_SESSION" = hook:chain ]; then
  put="curl -sf -o /dev/null -w %{http_code}\\n -X PUT"; url="$SIGNALBOX_URL/api/jobs/$SIGNALBOX_JOB_ID%2Fchain"
  $put -H "$json" -H "$bearer" -d '{"name":"Chain","returnTo":"self"}' "$url" >> chain &&
    $put -H "$json" -H "$bearer" -d '{"status":"completed","output":{}}' "$url"
  echo "One more."; exit
fi
if grep -q 'has completed' "prompt.$$"; then mv "prompt.$$" returned; echo "The build is ready."; exit; fi
curl -sf -X PUT -H "$json" -H "$bearer" -d '{"name":"Build","returnTo":{"sessionKey":"self","deliver":true,"channel":"log","to":"ops"}}' \\
  "$SIGNALBOX_URL/api/jobs/$SIGNALBOX_JOB_ID%2Fbuild" > created || exit 1
env | grep ^SIGNALBOX_ > environment
echo "I have started the build."
`;

describe("a job that wakes the session that started it", () => {
  let app: TestApp;
  let worker: TestWorker;
  let dir: string;
  before(async () => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-agent-"));
    const file = join(dir, "agent.sh");
    writeFileSync(file, `#!/bin/sh\ncd ${dir}\n${AGENT}`);
    chmodSync(file, 0o755);
    app = await startApp({
      config: JSON.stringify({
        server: { apiToken: API_TOKEN },
        hooks: { enabled: true, token: TOKEN },
        agents: {
          defaults: { runner: "command", trackAsJob: true },
          runners: { command: { command: [file] } },
          returns: { gather: "1s", maxDepth: 2 },
        },
        channels: { log: {} },
      }),
    });
    worker = await startWorker(app, { SIGNALBOX_URL: app.url });
  });
  after(async () => {
    await worker.close();
    await app.close();
    rmSync(dir, { recursive: true });
  });

  const read = async (path: string) => (await app.call("GET", path, undefined, bearer(API_TOKEN))).body;

  it("gives the session a turn with what the job says, and delivers the reply", async () => {
    const { body: accepted } = await app.call(
      "POST",
      "/hooks/agent",
      { message: "Build it", deliver: false },
      bearer(TOKEN),
    );
    const { runId, sessionKey } = accepted;
    await eventually(async () => (await read(`/api/runs/${runId}`)).status === "completed", "the first turn");
    const env = Object.fromEntries(
      readFileSync(join(dir, "environment"), "utf8")
        .trim()
        .split("\n")
        .map((line) => line.split(/=(.*)/s).slice(0, 2)),
    );
    const jobId = `${runId}/build`;
    const path = `/api/jobs/${encodeURIComponent(jobId)}`;
    const done = { stepName: "Build", progress: 100, jobProgressStart: 0, jobProgressEnd: 100, status: "completed" };
    const report = { ...done, message: "42 files", output: { image: "app:7" } };
    expect((await app.call("PUT", `${path}/steps/make`, report, bearer(env.SIGNALBOX_TOKEN))).status).to.equal(201);

    const back = await eventually(async () => {
      const { runs } = await read(`/api/runs?sessionKey=${encodeURIComponent(sessionKey)}`);
      return runs[0].kind === "return" && runs[0].deliveries[0]?.state === "sent" && runs[0];
    }, "the turn about the job");

    expect(env).to.include({ SIGNALBOX_JOB_ID: runId, SIGNALBOX_SESSION: sessionKey });
    expect(back).to.deep.include({
      ...{ name: "Return of Build", status: "completed", reply: "The build is ready.", sessionKey },
      returnOf: [{ jobId, event: "completed" }],
    });
    expect(back.deliveries[0]).to.include({ channel: "log", to: "ops" });
    const prompt = readFileSync(join(dir, "returned"), "utf8");
    const [outside, fenced] = prompt.split(/^<<<BEGIN_UNTRUSTED_CONTENT .*$/m).slice(-2) as [string, string];
    expect(outside).to.include("A job that this session started has completed.");
    for (const text of [
      "Job: Build",
      `Id: ${jobId}`,
      "Status: completed",
      "Message: 42 files",
      '{"image":"app:7"}',
      "Duration: ",
    ])
      expect(fenced).to.include(text);
    expect(fenced).to.include(`Link: ${app.url}/jobs/${encodeURIComponent(jobId)}`);
    const job = await read(path);
    expect(job.returnTo).to.deep.equal({
      ...{ sessionKey, on: ["completed", "failed"], deliver: true, channel: "log", to: "ops" },
    });
    expect(job.returns).to.have.lengthOf(1);
    expect(job.returns[0]).to.include({ event: "completed", runId: back.runId });
    const { messages } = await read(`/api/sessions/${encodeURIComponent(sessionKey)}/messages`);
    expect(messages.map(({ role }: { role: string }) => role)).to.deep.equal([
      "user",
      "assistant",
      "return",
      "assistant",
    ]);
    expect(messages[2].returnOf).to.deep.equal([{ jobId, event: "completed" }]);
  });

  it("ends a chain of returns at the maximum", async () => {
    const hook = { message: "Chain it", sessionKey: "hook:chain", deliver: false };
    await app.call("POST", "/hooks/agent", hook, bearer(TOKEN));
    const runs = await eventually(async () => {
      const { runs } = await read("/api/runs?sessionKey=hook%3Achain");
      return runs.length === 3 && runs.every((one: { status: string }) => one.status === "completed") && runs;
    }, "the turns of the chain");

    expect(runs.map(({ kind }: { kind: string }) => kind)).to.deep.equal(["return", "return", "agent"]);
    expect(readFileSync(join(dir, "chain"), "utf8")).to.equal("201\n201\n409\n");
    const path = `/api/jobs/${encodeURIComponent(`${runs[0].runId}/chain`)}`;
    expect((await read(path)).code).to.equal("job_not_found");
  });
});
