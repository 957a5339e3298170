import { createHmac, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";
import { runInProcess } from "../support/cli.ts";
import { ENCODINGS } from "../support/encodings.ts";
import { eventually } from "../support/eventually.ts";
import { answers, hangs, type ModelServer, says, startModelServer } from "../support/servers/modelServer.ts";
import { freePort, mongoUri } from "../support/servers/servers.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";
import { follow, runCli } from "./service.ts";
import { atTerminal } from "./terminal.ts";

const API_TOKEN = "api-token-of-the-test";
const HOOK_TOKEN = "hook-token-of-the-test";
const SECRET = "secret-of-the-sender";
/** Prevents a turn of the main session, which would consume the next scripted reply of the model. */
const QUIET = ["--no-deliver", "--wake-mode", "next-heartbeat"];
const HOSTILE = "evil\x1b]0;stolen\x07\x1b[2J";
const CONFIG = (model: string) => `{
  hooks: { enabled: true, token: "${HOOK_TOKEN}", mappings: [
    { match: { path: "ci/build" }, name: "CI", messageTemplate: "Build {{n}}", deliver: false, wakeMode: "next-heartbeat" },
    { match: { path: "signed" }, auth: { type: "github", secret: "${SECRET}" }, messageTemplate: "{{n}}", deliver: false, wakeMode: "next-heartbeat" },
    { match: { path: "all" }, forEach: "payload", messageTemplate: "{{item}}", deliver: false, wakeMode: "next-heartbeat" },
    { match: { path: "each" }, forEach: "items", messageTemplate: "{{item}}", deliver: false, wakeMode: "next-heartbeat" },
  ] },
  agents: {
    defaults: { runner: "openai", model: "small", heartbeat: { every: "1d" } },
    runners: { openai: { baseUrl: "${model}" } },
  },
  channels: { log: {} },
}`;

describe("signalbox hooks send, runs, deliveries, sessions", () => {
  let app: TestApp;
  let worker: TestWorker;
  let model: ModelServer;
  let env: Record<string, string>;
  let dir: string;
  before(async () => {
    model = await startModelServer();
    app = await startApp({ apiToken: API_TOKEN, config: CONFIG(model.url) });
    worker = await startWorker(app);
    env = { SIGNALBOX_URL: app.url, SIGNALBOX_API_TOKEN: API_TOKEN, SIGNALBOX_HOOKS_TOKEN: HOOK_TOKEN };
    dir = mkdtempSync(join(tmpdir(), "signalbox-cli-"));
  });
  after(async () => {
    await worker.close();
    await app.close();
    await model.close();
    rmSync(dir, { recursive: true });
  });
  const cli = (args: readonly string[], input?: string) =>
    runInProcess(args, env, { ...(input !== undefined && { input }) });
  const read = async (path: string) =>
    (await app.call("GET", path, undefined, { Authorization: `Bearer ${API_TOKEN}` })).body;
  const send = (...args: string[]) => cli(["hooks", "send", ...args]);
  const ended = (runId: string) =>
    eventually(async () => {
      const run = await read(`/api/runs/${runId}`);
      return run.endedAt && run;
    }, "the run to end");
  const sendAgent = async (message: string, ...args: string[]) =>
    JSON.parse((await send("agent", "--message", message, ...QUIET, "--json", ...args)).stdout);

  describe("hooks send wake", () => {
    it("sends one event to the main session for one idempotency key", async () => {
      const args = ["wake", "--text", "the backup failed", "--mode", "next-heartbeat", "--json"];
      const key = ["--idempotency-key", randomUUID()];

      const first = await send(...args, ...key);
      const second = await send(...args, ...key);

      const { events } = await read("/api/sessions/main/events");
      const { eventId } = JSON.parse(first.stdout);
      expect(JSON.parse(first.stdout)).to.include({ ok: true, mode: "next-heartbeat" });
      expect(second.stdout).to.equal(first.stdout);
      const mine = events.filter((event: { text: string }) => event.text === "the backup failed");
      expect(mine.map((event: { eventId: string }) => event.eventId)).to.deep.equal([eventId]);
    });

    it("reads the text from standard input", async () => {
      const text = `line one\nline two ${randomUUID()}`;

      const { code, stdout } = await cli(["hooks", "send", "wake", "--text", "-", "--mode", "next-heartbeat"], text);

      expect(code).to.equal(0);
      expect(stdout).to.match(/^Event +\S+\nMode +next-heartbeat\n$/);
      const { events } = await read("/api/sessions/main/events");
      expect(events.map((event: { text: string }) => event.text)).to.include(text);
    });

    it("prints the service's error with the field, and exits with 3", async () => {
      const { code, stderr } = await send("wake", "--text", "  ");

      expect(code).to.equal(3);
      expect(stderr).to.match(/\n {2}- \/text: /);
    });
  });

  describe("hooks send agent", () => {
    it("prints only the reply and exits with 0 with --wait", async () => {
      model.script(says(`All is well.${HOSTILE}\nReally.`));

      const { code, stdout, stderr } = await send("agent", "--message", "how is it?", ...QUIET, "--wait");

      expect(code).to.equal(0);
      expect(stdout).to.equal("All is well.evil�]0;stolen��[2J\nReally.\n");
      expect(stderr).to.match(/^run [\w-]+\n/);
    });

    it("exits with 1 and the reason if the run fails with --wait", async () => {
      model.script(answers(400, { error: { message: "no such model" } }));

      const { code, stdout, stderr } = await send("agent", "--message", "x", ...QUIET, "--wait");

      expect([code, stdout]).to.deep.equal([1, ""]);
      expect(stderr).to.match(/The run failed \(\w+\): .+\n$/);
    });

    it("needs only the hook token with --wait", async () => {
      const { SIGNALBOX_API_TOKEN: _, ...without } = env;

      const args = ["hooks", "send", "agent", "--message", "x", ...QUIET, "--wait", "--json"];
      const { code, stdout } = await runInProcess(args, without);

      expect(code).to.equal(0);
      expect(JSON.parse(stdout)).to.include({ status: "completed", reply: "Hello from the model." });
    });

    it("sends all options to the service", async () => {
      const { runId, sessionKey } = await sendAgent(
        ...(["hello", "--name", "N", "--session-key", "inbox", "--model", "small", "--thinking", "low"] as const),
        ...["--timeout", "77", "--channel", "log", "--to", "me", "--wake-mode", "next-heartbeat"],
      );

      const [run, { request }] = [await ended(runId), await read(`/api/runs/${runId}/request`)];
      expect(sessionKey).to.equal("inbox");
      expect(run).to.include({ name: "N", sessionKey: "inbox" });
      expect(request).to.include({ message: "hello", model: "small", thinking: "low", timeoutSeconds: 77 });
      expect(request).to.include({ deliver: false, channel: "log", to: "me", wakeMode: "next-heartbeat" });
    });

    it("reports a missing hook token before sending anything", async () => {
      const { code, stderr } = await runInProcess(["hooks", "send", "agent", "--message", "x"], {
        SIGNALBOX_URL: app.url,
      });

      expect(code).to.equal(1);
      expect(stderr).to.match(/^The service at \S+ requires its hook token: set SIGNALBOX_HOOKS_TOKEN/);
    });

    it("reports a wrong hook token", async () => {
      const wrong = { ...env, SIGNALBOX_HOOKS_TOKEN: "not-the-right-token" };

      const { code, stderr } = await runInProcess(["hooks", "send", "agent", "--message", "x"], wrong);

      expect(code).to.equal(3);
      expect(stderr).to.match(/rejected the hook token: correct SIGNALBOX_HOOKS_TOKEN/);
    });

    it("uses the token that the first start generated", async () => {
      const { port } = new URL(app.url);
      const dataDir = mkdtempSync(join(dir, "data-"));
      writeFileSync(join(dataDir, "hooks-token"), `${HOOK_TOKEN}\n`);

      const args = ["hooks", "send", "agent", "--message", "x", ...QUIET];
      const { code, stdout } = await runInProcess(args, { PORT: port, SIGNALBOX_DATA_DIR: dataDir }, { cwd: dir });

      expect(code).to.equal(0);
      expect(stdout).to.match(/^Run +\S+\nSession +hook:/);
    });

    it("reports that hooks are disabled", async () => {
      const off = await startApp();

      const args = ["hooks", "send", "wake", "--text", "x"];
      const { code, stderr } = await runInProcess(args, { ...env, SIGNALBOX_URL: off.url });

      await off.close();
      expect(code).to.equal(3);
      expect(stderr).to.match(/^Hooks are not enabled at \S+\/hooks: set hooks\.enabled there/);
    });
  });

  describe("hooks send NAME", () => {
    it("sends a file to a hook whose name has several segments, and prints the run", async () => {
      const file = join(dir, "body.json");
      writeFileSync(file, '{ "n": 7 }');

      const { code, stdout } = await send("ci/build", "--body", file);

      expect(code).to.equal(0);
      const [, runId = ""] = /^Run +(\S+)\n$/.exec(stdout) ?? [];
      expect((await ended(runId)).name).to.equal("CI");
      expect((await read(`/api/runs/${runId}/request`)).request.message).to.equal("Build 7");
    });

    it("sends the unchanged bytes, so that their signature stays valid, and needs no hook token", async () => {
      const body = '{ "n" : 1.0,\n"n": 2.50 }\n';
      const signature = `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`;
      const args = ["hooks", "send", "signed", "--body", "-", "--header", `X-Hub-Signature-256: ${signature}`];

      const good = await runInProcess(args, { SIGNALBOX_URL: app.url }, { input: body });
      const other = await runInProcess(args, { SIGNALBOX_URL: app.url }, { input: `${body} ` });

      expect(good.stdout).to.match(/^Run +\S+\n$/);
      expect([good.code, other.code]).to.deep.equal([0, 3]);
    });

    it("sends a body in UTF-8 with its byte order mark, and one in UTF-16 as UTF-8", async () => {
      for (const [encoding, encode] of ENCODINGS) {
        const file = join(dir, "encoded.json");
        writeFileSync(file, encode('{"branch":"Größe"}'));
        const sent = encoding.startsWith("UTF-16") ? '{"branch":"Größe"}' : encode('{"branch":"Größe"}');
        const signature = `sha256=${createHmac("sha256", SECRET).update(sent).digest("hex")}`;

        const { code, stderr } = await send("signed", "--body", file, "--header", `X-Hub-Signature-256: ${signature}`);

        expect([encoding, code, stderr]).to.deep.equal([encoding, 0, ""]);
      }
    });

    it("explains both ways to authenticate if the service rejects the request", async () => {
      const { code, stderr } = await cli(["hooks", "send", "signed", "--body", "-"], '{"n":1}');

      expect(code).to.equal(3);
      expect(stderr).to.match(/^The service at \S+ did not authenticate this hook: correct SIGNALBOX_HOOKS_TOKEN/);
      expect(stderr).to.match(/or if its mapping has auth, pass the sender's token or signature with --header\.\n$/);
    });

    it("prints each run of forEach, or that there is none", async () => {
      const some = await cli(["hooks", "send", "each", "--body", "-"], '{"items":["a","b"]}');
      const none = await cli(["hooks", "send", "each", "--body", "-"], '{"items":[]}');

      expect(some.stdout).to.match(/^Run +\S+\nRun +\S+\n$/);
      expect([none.code, none.stdout, none.stderr]).to.deep.equal([0, "", "The webhook starts no run.\n"]);
    });

    it("sends an array as the body", async () => {
      const { stdout } = await cli(["hooks", "send", "all", "--body", "-"], '["a", "b", "c"]');

      expect(stdout).to.match(/^(Run +\S+\n){3}$/);
    });

    const refused = [
      [["nobody", "--body", "-"], "{}", 3, /no hook/],
      [["ci/build", "--body", "-"], "7", 1, /^The body in standard input is not a JSON object or array\.$/],
      [["ci/build", "--body", "missing.json"], "", 1, /^The body cannot be read from missing\.json \(ENOENT\)\.$/],
      [["ci/build"], "", 2, /^--body is required/],
      [["ci/build", "--body", "-", "--header", "x"], "{}", 2, /It must have the form "name: value"\.$/],
    ] as const;
    for (const [args, input, code, words] of refused) {
      it(`exits with ${code} for ${args.join(" ")} with ${input || "no input"}`, async () => {
        const answer = await cli(["hooks", "send", ...args], input);

        expect(answer.code).to.equal(code);
        expect(answer.stderr.trim()).to.match(words);
      });
    }
  });

  describe("runs", () => {
    it("list prints matching runs as a table or as JSON", async () => {
      const session = `s-${randomUUID()}`;
      const { runId } = await sendAgent("x", "--session-key", session, "--name", HOSTILE);
      const run = await ended(runId);

      const table = await cli(["runs", "list", "--session", session, "--status", "completed"]);
      const json = await cli(["runs", "list", "--session", session, "--json"]);
      const none = await cli(["runs", "list", "--session", session, "--status", "failed", "--status", "dropped"]);

      const name = "evil�\\]0;stolen��\\[2J";
      expect(table.stdout).to.match(new RegExp(`\n${runId} +agent +${name} +completed +\\d+s +${session}\n$`));
      expect(JSON.parse(json.stdout)).to.deep.equal(run);
      expect([none.stdout, none.stderr]).to.deep.equal(["", "No runs match.\n"]);
    });

    it("list prints the runs of a mapping, of a time and of a search only", async () => {
      const session = `s-${randomUUID()}`;
      const { runId } = await sendAgent("x", "--session-key", session, "--name", "Pull request 41");
      const list = (...args: string[]) => cli(["runs", "list", "--session", session, ...args, "--json"]);

      const since = await list("--created-from", "1h");
      const until = await list("--created-before", "1h");
      const ofMapping = await list("--mapping", "ci");
      const [found, missed] = [await list("--search", "41 PULL"), await list("--search", "42")];

      expect(JSON.parse(since.stdout)).to.include({ runId });
      expect(JSON.parse(found.stdout)).to.include({ runId });
      expect([until.stdout, ofMapping.stdout, missed.stdout]).to.deep.equal(["", "", ""]);
    });

    it("get prints the reply and, with --request, the request", async () => {
      model.script(says(`Two\nlines${HOSTILE}`));
      const { runId } = await sendAgent(`please${HOSTILE}`);
      await ended(runId);

      const plain = await cli(["runs", "get", runId, "--request"]);
      const json = await cli(["runs", "get", runId, "--request", "--json"]);

      expect(plain.stdout).to.match(new RegExp(`^Run +${runId}\nKind +agent\n`));
      expect(plain.stdout).to.match(/\nReply\nTwo\nlinesevil�\]0;stolen��\[2J\n[\s\S]*\nPrompt\npleaseevil�/);
      expect(plain.stdout + json.stdout).to.not.match(/[^\P{Cc}\n]/u);
      expect(JSON.parse(json.stdout)).to.deep.equal({
        ...(await read(`/api/runs/${runId}`)),
        ...(await read(`/api/runs/${runId}/request`)),
      });
    });

    it("get prints the mapping of a mapped hook, and that its body is not stored", async () => {
      const sent = await cli(["hooks", "send", "ci/build", "--body", "-", "--json"], '{ "n": 7 }');
      const { runId } = JSON.parse(sent.stdout);
      await ended(runId);

      const { stdout } = await cli(["runs", "get", runId, "--request"]);

      expect(stdout).to.match(
        /\nRequest\nA webhook for the mapping ci\/build\. Its body is deleted after the mapping has been applied\.\n$/,
      );
    });

    it("get prints which run of its session a queued run waits for", async () => {
      model.script(hangs("It begins"));
      const first = await sendAgent("x", "--session-key", "in-turn");
      const second = await sendAgent("y", "--session-key", "in-turn");

      const { stdout } = await cli(["runs", "get", second.runId]);

      await cli(["runs", "cancel", first.runId]);
      expect(stdout).to.match(new RegExp(`\nStatus +queued\nWaits for +run ${first.runId} of the same session\n`));
      expect(await ended(second.runId)).to.not.have.property("waitsFor");
    });

    it("again starts a new run with the same request, and prints of which run it is a rerun", async () => {
      const { runId } = await sendAgent("once more");
      await ended(runId);

      const plain = await cli(["runs", "again", runId]);
      const json = await cli(["runs", "again", runId, "--json"]);

      expect([plain.code, json.code]).to.deep.equal([0, 0]);
      expect(plain.stdout).to.match(new RegExp(`^Run +[-0-9a-f]{36}\n[\\s\\S]*\nRerun of +${runId}\n`));
      const made = await ended(JSON.parse(json.stdout).runId);
      expect(made).to.include({ againOf: runId, status: "completed" });
    });

    it("watch waits for the end and prints the reply, and retry starts a failed run again", async () => {
      model.script(answers(400, { error: { message: "no" } }));
      const { runId } = await sendAgent("x");
      await ended(runId);

      const failed = await cli(["runs", "watch", runId]);
      await eventually(async () => (await app.stores.runs.find(runId)).finalized, "all that follows from its end");
      model.script(says("Better."));
      const retried = await cli(["runs", "retry", runId, "--json"]);
      const watched = await cli(["runs", "watch", runId]);
      const again = await cli(["runs", "retry", runId]);

      expect([failed.code, failed.stdout]).to.deep.equal([1, ""]);
      expect([retried.code, JSON.parse(retried.stdout).runId]).to.deep.equal([0, runId]);
      expect([watched.code, watched.stdout]).to.deep.equal([0, "Better.\n"]);
      expect(again.code).to.equal(3);
      expect(again.stderr).to.equal("Only a failed run can be retried.\n");
    });

    it("cancel ends a run that another terminal watches", async () => {
      model.script(hangs());
      const { runId } = await sendAgent("x");
      const terminal = atTerminal(["runs", "watch", runId], env);
      await terminal.shows(/running {2}\d+s$/);
      const waiting = app.waiting();

      const cancelled = await cli(["runs", "cancel", runId]);
      const code = await terminal.ended;

      expect(cancelled.code).to.equal(0);
      expect(cancelled.stdout).to.match(/^Status +failed$/m);
      expect(waiting).to.equal(1);
      expect(code).to.equal(1);
      expect(await terminal.lines()).to.have.length(1); // the line that moved is gone
      expect((await terminal.lines())[0]).to.match(/^The run failed \(cancelled\)/);
    });

    it("get --follow shows the text while the agent writes it, and only the end after it", async () => {
      model.script(hangs("It begins\nand goes on"));
      const { runId } = await sendAgent("x");
      const terminal = atTerminal(["runs", "get", runId, "--follow"], env);

      await terminal.shows(/^and goes on\n.*running/m);
      const lines = await terminal.lines();
      await cli(["runs", "cancel", runId]);
      const code = await terminal.ended;

      expect(lines.slice(0, 2)).to.deep.equal(["It begins", "and goes on"]);
      expect(code).to.equal(1);
      expect(await terminal.lines()).to.have.length(1); // the text that moved is gone
    });

    it("watch prints the state on standard error and can be interrupted", async () => {
      model.script(hangs());
      const { runId } = await sendAgent("x");

      const watching = runCli(`runs watch ${runId}`, env);
      await watching.prints(/running/);
      watching.kill("SIGINT");
      const { code, stdout } = await watching.ended;

      expect([code, stdout]).to.deep.equal([130, ""]);
      await cli(["runs", "cancel", runId]);
    });

    it("watch survives a restart of the service and reports it", async () => {
      const [port, mongo] = [await freePort(), await mongoUri(`test-${randomUUID()}`)];
      const config = "{ hooks: { enabled: true, token: 'hook-token-of-the-test' } }";
      let service = await startApp({ port, mongo, config }); // without a worker
      try {
        const here = { ...env, SIGNALBOX_URL: service.url };
        const sent = await runInProcess(["hooks", "send", "agent", "--message", "x", "--json"], here);
        const { runId } = JSON.parse(sent.stdout);

        const watching = follow(["runs", "watch", runId], here);
        await watching.prints(/queued/);
        await service.close();
        await watching.prints(/trying again/);
        service = await startApp({ port, mongo, config });
        await service.call("POST", `/api/runs/${runId}/cancel`);
        const { code, stderr } = await watching.ended;

        expect(code).to.equal(1);
        expect(stderr).to.match(/^\S+ {2}queued .*\nThe connection to the service is lost; trying again …\n/);
        expect(stderr).to.match(/\nThe run failed \(cancelled\): .*\n$/);
      } finally {
        await service.close();
      }
    });

    it("all commands exit with 3 if there is no such run", async () => {
      const answers = [];
      for (const act of ["get", "watch", "retry", "again", "cancel"])
        answers.push(await cli(["runs", act, randomUUID()]));

      expect(answers.map(({ code }) => code)).to.deep.equal([3, 3, 3, 3, 3]);
      for (const { stderr } of answers) expect(stderr).to.match(/^There is no run/);
    });
  });

  describe("deliveries", () => {
    const add = async (channel: string, fault: string | null) => {
      const _id = randomUUID();
      const to = `me-${_id}`;
      await app.stores.deliveries.add({ _id, runId: null, channel, to, text: "hello", fault });
      return { deliveryId: _id, to };
    };

    it("list prints deliveries in a state with the reason, and retry sends a failed one again", async () => {
      const { deliveryId, to } = await add("log", `the channel was away${HOSTILE}`);

      const listed = await cli(["deliveries", "list", "--state", "failed", "--channel", "log"]);
      const retried = await cli(["deliveries", "retry", deliveryId, "--json"]);

      const reason = "the channel was awayevil�\\]0;stolen��\\[2J";
      expect(listed.stdout).to.match(
        new RegExp(`^${deliveryId} +log +${to} +failed +0 +\\d+s +hello +${reason}$`, "m"),
      );
      expect(JSON.parse(retried.stdout)).to.include({ deliveryId, state: "pending" });
      await eventually(async () => {
        const { deliveries } = await read("/api/deliveries?state=sent");
        return deliveries.some((sent: { deliveryId: string }) => sent.deliveryId === deliveryId);
      }, "it to be sent");
    });

    it("cancel stops a waiting delivery", async () => {
      const { deliveryId } = await add("log", null);

      const { code, stdout } = await cli(["deliveries", "cancel", deliveryId]);

      expect(code).to.equal(0);
      expect(stdout).to.match(new RegExp(`\n${deliveryId} +log +\\S+ +failed `));
    });
  });

  describe("sessions", () => {
    it("list prints sessions, last used first, and messages prints those of one session", async () => {
      const session = `s-${randomUUID()}`;
      model.script(says("An answer."));
      await ended((await sendAgent(`a question${HOSTILE}`, "--session-key", session)).runId);

      await eventually(async () => {
        const { messages = [] } = await read(`/api/sessions/${session}/messages`);
        return messages.length === 2;
      }, "its messages");

      const listed = await cli(["sessions", "list", "--json"]);
      const messages = await cli(["sessions", "messages", session]);
      const rows = await cli(["sessions", "messages", session, "--limit", "1", "--json"]);

      expect(JSON.parse(listed.stdout.split("\n")[0] ?? "").sessionKey).to.equal(session);
      expect(messages.stdout).to.match(/^user {2}\S+Z\n[\s\S]*a question[\s\S]*\n\nassistant {2}\S+Z\nAn answer\.\n$/);
      expect(messages.stdout).to.not.match(/[^\P{Cc}\n]/u);
      expect(JSON.parse(rows.stdout)).to.include({ role: "assistant", content: "An answer." });
    });
  });
});
