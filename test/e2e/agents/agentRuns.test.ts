import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { isRunning } from "../../cli/service.ts";
import { eventually } from "../../support/eventually.ts";
import { bearer, CommandAgent } from "./commandAgent.ts";

describe("an agent run with a command as agent", () => {
  const agent = new CommandAgent();

  it("ends with the agent's reply, one summary in the main session and one turn in the transcript", async () => {
    await agent.start('cat > prompt; echo "All fine."');

    const runId = await agent.accept({ message: "How is it?", name: "Check", sessionKey: "s" });
    const run = await agent.ended(runId);

    expect(run).to.include({ status: "completed", reply: "All fine.", attempts: 1 });
    const prompt = readFileSync(join(agent.dir, "prompt"), "utf8");
    expect(prompt).to.include("How is it?").and.to.not.equal("How is it?\n");
    const events = await eventually(async () => {
      const { events: waiting } = await agent.app.stores.mainEvents.findWaiting({ limit: 10, maxChars: 1e6 });
      return waiting.length > 0 && waiting;
    }, "the summary");
    expect(events.map(({ text }) => text)).to.deep.equal(["Check: completed\nAll fine."]);
    const { body } = await agent.app.call("GET", "/api/sessions/s/messages");
    expect(body.messages.map(({ role, content }: { role: string; content: string }) => [role, content])).to.deep.equal([
      ["user", "How is it?"],
      ["assistant", "All fine."],
    ]);
  });

  it("fails as timeout when it takes too long, and its program is ended", async () => {
    await agent.start("echo $$ > pid; sleep 600 & wait");

    const runId = await agent.accept({ message: "x", timeoutSeconds: 1 });
    const run = await agent.ended(runId);

    expect(run).to.deep.include({ status: "failed", attempts: 1 });
    expect(run.error?.code).to.equal("timeout");
    const pid = Number(readFileSync(join(agent.dir, "pid"), "utf8"));
    expect(() => process.kill(pid, 0)).to.throw("ESRCH");
  });

  it("fails at once when its program fails, and can be retried", async () => {
    await agent.start('cat > /dev/null; [ -e mended ] && echo "Better." || exit 3');

    const runId = await agent.accept({ message: "x" });
    const failed = await agent.ended(runId);
    writeFileSync(join(agent.dir, "mended"), "");
    const retried = await eventually(async () => {
      const answer = await agent.app.call("POST", `/api/runs/${runId}/retry`);
      return answer.status === 202 && answer;
    }, "the failed run to be finalized");
    const run = await eventually(async () => {
      const now = await agent.read(runId);
      return now.status === "completed" && now;
    }, "the second round");

    expect(failed).to.deep.include({ status: "failed", attempts: 1 });
    expect(failed.error?.code).to.equal("agent_failed");
    expect(retried.body.status).to.be.oneOf(["queued", "running", "completed"]);
    expect(run.reply).to.equal("Better.");
    expect((await agent.app.call("POST", `/api/runs/${runId}/retry`)).body.code).to.equal("run_state_conflict");
  });

  it("is aborted within seconds when it is cancelled, and the next run of the session starts", async () => {
    await agent.start("cat > /dev/null; [ -e go ] && echo ok && exit; echo $$ > pid; sleep 600 & wait");

    const runId = await agent.accept({ message: "x", sessionKey: "s" });
    const pid = await eventually(() => {
      try {
        return Number(readFileSync(join(agent.dir, "pid"), "utf8").trim());
      } catch {
        return 0;
      }
    }, "the program to run");
    writeFileSync(join(agent.dir, "go"), "");
    const next = await agent.accept({ message: "y", sessionKey: "s" });
    const { status, body } = await agent.app.call("POST", `/api/runs/${runId}/cancel`);
    const after = await agent.ended(next);
    await eventually(() => !isRunning(pid), "the program to be gone");

    expect(status).to.equal(200);
    expect(body).to.deep.include({ status: "failed" });
    expect(body.error.code).to.equal("cancelled");
    expect(after.status).to.equal("completed");
  });

  it("fences external content also in later turns of the session", async () => {
    await agent.start('cat > "prompt.$(ls | wc -l)"; echo "Reply."');

    for (const message of ["first words", "second words"])
      await agent.ended(await agent.accept({ message, sessionKey: "s" }));

    const prompts = readdirSync(agent.dir).filter((name) => name.startsWith("prompt"));
    const last = readFileSync(join(agent.dir, prompts.sort().at(-1) as string), "utf8");
    for (const words of ["first words", "second words"]) {
      expect(last).to.match(
        new RegExp(
          `<<<BEGIN_UNTRUSTED_CONTENT id="([0-9a-f]{32})">>>\\n${words}\\n<<<END_UNTRUSTED_CONTENT id="\\1">>>`,
        ),
      );
    }
    const { body } = await agent.app.call("GET", "/api/sessions/s/messages");
    expect(body.messages[0].content).to.equal("first words");
  });

  it("delivers its reply to the requested channel, and records why it could not", async () => {
    await agent.start('cat > /dev/null; echo "Hello."');

    const sent = await agent.accept({ message: "x", deliver: true, channel: "log", to: "me" });
    const delivered = await eventually(async () => {
      const [one] = (await agent.read(sent)).deliveries;
      return one && one.state !== "pending" && one;
    }, "the delivery");
    const lost = await agent.accept({ message: "x", deliver: true, channel: "telegram", to: "12345" });
    const failed = await eventually(async () => {
      const [one] = (await agent.read(lost)).deliveries;
      return one && one.state !== "pending" && one;
    }, "the failed delivery");
    const unmoved = await agent.app.stores.sessions.replyTarget();
    await agent.app.stores.sessions.setReplyTarget({ channel: "log", to: "the operator" });
    const last = await agent.accept({ message: "x", deliver: true });
    const toLast = await eventually(async () => {
      const [one] = (await agent.read(last)).deliveries;
      return one && one.state !== "pending" && one;
    }, "the delivery to the last recipient");

    expect(delivered).to.include({ channel: "log", to: "me", state: "sent" });
    expect(failed).to.include({ channel: "telegram", state: "failed" });
    expect(failed.reason).to.equal("The channel telegram is not configured: add channels.telegram.");
    expect((await agent.read(lost)).status).to.equal("completed");
    expect(unmoved).to.equal(null);
    expect(toLast).to.include({ channel: "log", to: "the operator", state: "sent" });
  });

  it("wakes the main session with its summary, and the turn removes the events", async () => {
    await agent.start('cat > "heartbeat.$$"; echo "HEARTBEAT_OK"');

    await agent.app.call("POST", "/hooks/wake", { text: "Disk is full" }, bearer);
    await eventually(
      async () => (await agent.app.stores.mainEvents.countWaiting()) === 0,
      "the turn to receive the event",
    );

    const { body } = await agent.app.call("GET", "/api/sessions/main/messages");
    expect(body.messages[0].content).to.include("Disk is full");
    expect(body.messages[1].content).to.equal("HEARTBEAT_OK");
    expect(await agent.app.stores.deliveries.collection.native.countDocuments()).to.equal(0);
  });

  it("is a tracked job too with trackAsJob, and its agent can report further steps", async () => {
    const report = `curl -s -X PUT -H 'Content-Type: application/json' -H "Authorization: Bearer $SIGNALBOX_TOKEN" -d '{"stepName":"Own step"}'`;
    await agent.start(
      `cat > /dev/null; ${report} "$SIGNALBOX_URL/api/jobs/$SIGNALBOX_JOB_ID/steps/own" > /dev/null; [ -e fail ] && exit 1; echo Done.`,
      {
        more: "trackAsJob: true",
        url: true,
      },
    );

    const good = await agent.accept({ message: "x", name: "Tracked" });
    await agent.ended(good);
    writeFileSync(join(agent.dir, "fail"), "");
    const bad = await agent.accept({ message: "x" });
    await agent.ended(bad);
    const jobOf = (runId: string, status: string) =>
      eventually(async () => {
        const { body } = await agent.app.call("GET", `/api/jobs/${runId}?include=steps`);
        return body.status === status && body;
      }, `the job to be ${status}`);

    const job = await jobOf(good, "completed");
    expect(job).to.deep.include({ name: "Tracked", progress: 100, output: { reply: "Done." } });
    expect(
      job.steps.map(({ stepKey, status }: { stepKey: string; status: string }) => [stepKey, status]),
    ).to.deep.equal([
      ["agent", "completed"],
      ["own", "running"],
    ]);
    expect((await jobOf(bad, "failed")).message).to.match(/exit code 1/);

    rmSync(join(agent.dir, "fail"));
    await eventually(
      async () => (await agent.app.call("POST", `/api/runs/${bad}/retry`)).status === 202,
      "it to be finalized",
    );
    expect((await jobOf(bad, "completed")).output).to.deep.equal({ reply: "Done." });
  });

  it("writes no prompt, reply or token to the log", async () => {
    await agent.start('cat > /dev/null; echo "secret reply"');

    await agent.ended(await agent.accept({ message: "secret message", name: "n" }));
    await agent.worker.close();

    expect(JSON.stringify([agent.worker.log, agent.app.log])).to.not.include("secret");
  });
});
