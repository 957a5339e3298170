import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";
import { runInProcess } from "../support/cli.ts";
import { createJob, report } from "../support/factories.ts";
import { freePort } from "../support/servers/servers.ts";
import { useSharedApp } from "../support/useApp.ts";
import { onScreen } from "./screen.ts";
import { runCli } from "./service.ts";
import { atTerminal } from "./terminal.ts";

const HOSTILE = "evil\x1b]0;stolen\x07\x1b[2J\x9b31m\r\u202egnp";

describe("signalbox jobs", () => {
  const app = useSharedApp();
  let env: Record<string, string>;
  before(() => {
    env = { SIGNALBOX_URL: app.url };
  });
  const jobs = (...args: string[]) => runInProcess(["jobs", ...args], env);
  const rows = (stdout: string) =>
    stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));

  it("get keeps the lines of a message, aligned, and without control characters", async () => {
    const { jobId } = await createJob(app, { message: "Error: no\n  at a.ts:1\u001b[2J\nStatus  completed" });

    const { stdout } = await jobs("get", jobId);

    expect(stdout).to.match(/^Message( +)Error: no\n {7}\1 {2}at a\.ts:1\ufffd\[2J\n {7}\1Status {2}completed$/m);
  });

  describe("list", () => {
    it("prints a table, newest first, with control characters in names made safe", async () => {
      const team = randomUUID();
      const first = await createJob(app, { name: "First", metadata: { team }, message: "line one\nline two" });
      const second = await createJob(app, { name: HOSTILE, metadata: { team }, progress: 42, status: "failed" });

      const { code, stdout } = await jobs("list", "--metadata", `team=${team}`);

      expect(code).to.equal(0);
      const [heading = "", ...lines] = stdout.trimEnd().split("\n");
      expect(heading).to.match(/^JOB ID +NAME +STATUS +DONE +AGE +MESSAGE$/);
      expect(lines).to.have.length(2);
      expect(lines[0]).to.match(new RegExp(`^${second.jobId} +evil�\\]0;stolen�+\\[2J�31m �gnp +failed +42 % +\\d+s$`));
      expect(lines[1]).to.match(new RegExp(`^${first.jobId} +First +running +0 % +\\d+s +line one line two$`));
    });

    it("leaves out ids that the terminal has no room for, and names what is wrong with a port that fetch blocks", async () => {
      const { jobId, path } = await createJob(app, { name: "Nightly report", metadata: { team: randomUUID() } });
      await app.call("PUT", `${path}/steps/${"k".repeat(30)}`, {
        stepName: "Collect",
        progress: 5,
        message: "at work",
      });

      const narrow = onScreen(["jobs", "get", jobId, "--steps"], env, { columns: 60 });
      await narrow.ended;
      const blocked = await runInProcess(["jobs", "list"], { SIGNALBOX_URL: "http://127.0.0.1:6000" });

      const text = (await narrow.lines()).join("\n");
      expect(text).to.match(/^NAME +STATUS +DONE +TRIES +TOOK +MESSAGE\nCollect +running /m);
      expect(blocked.code).to.equal(3);
      expect(blocked.stderr).to.include("cannot be reached: fetch blocks its port. Use another.");
    });

    it("prints one complete job in each line with --json, made safe too", async () => {
      const team = randomUUID();
      const { path } = await createJob(app, { name: HOSTILE, metadata: { team }, input: { n: 1 } });
      await createJob(app, { metadata: { team } });

      const { stdout } = await jobs("list", "--metadata", `team=${team}`, "--json");

      expect(stdout.trimEnd().split("\n")).to.have.length(2);
      expect(stdout.trimEnd().replaceAll("\n", "")).to.not.match(/\p{Cc}|\u202e/u);
      expect(rows(stdout)[1]).to.deep.equal((await app.call("GET", path)).body);
    });

    it("reads as many pages as --limit or --all require", async () => {
      const team = randomUUID();
      for (let i = 0; i < 5; i++) await createJob(app, { metadata: { team } });
      const filter = ["list", "--metadata", `team=${team}`];

      const three = await jobs(...filter, "--limit", "3");
      const all = await jobs(...filter, "--limit", "3", "--all", "--json");

      expect(three.stdout.trimEnd().split("\n")).to.have.length(4);
      expect(three.stderr).to.equal("There are more rows: print them with --limit or --all.\n");
      expect(rows(all.stdout)).to.have.length(5);
      expect(all.stderr).to.equal("");
    });

    it("applies all given filters", async () => {
      const team = randomUUID();
      const { jobId } = await createJob(app, { name: "Nightly", metadata: { team, at: "x=y" }, status: "failed" });
      await createJob(app, { name: "Nightly", metadata: { team, at: "x=y" } });
      const filter = ["--metadata", `team=${team}`, "--metadata", "at=x=y", "--name", "night", "--created-from", "1h"];

      const found = await jobs("list", "--json", ...filter, "--status", "failed", "--status", "completed");

      expect(rows(found.stdout).map((job) => job.jobId)).to.deep.equal([jobId]);
    });

    it("finds words anywhere in a name with --search", async () => {
      const team = randomUUID();
      const { jobId } = await createJob(app, { name: "Nightly sales report", metadata: { team } });
      const search = (text: string) => jobs("list", "--json", "--metadata", `team=${team}`, "--search", text);

      expect(rows((await search("report SALES")).stdout).map((job) => job.jobId)).to.deep.equal([jobId]);
      expect((await search("ightly")).stdout).to.equal("");
    });

    it("sends every filter in the form of the API", async () => {
      const asked: string[] = [];
      const receiver = createServer(({ url = "" }, response) => {
        asked.push(url);
        response.setHeader("Content-Type", "application/json").end('{"jobs":[],"nextCursor":null}');
      }).listen(0, "127.0.0.1");
      await once(receiver, "listening");
      const { port } = receiver.address() as AddressInfo;

      await runInProcess(
        [
          ...["jobs", "list", "--json", "--limit", "7", "--url", `http://127.0.0.1:${port}/base/`],
          ...["--status", "failed", "--status", "running", "--name", "N", "--job-id", "J", "--no-stale"],
          ...["--metadata", "a.b=1", "--metadata", "a.b=2", "--created-from", "2020-01-01"],
          ...[
            "--created-before",
            "2020-01-02T00:00:00+01:00",
            "--updated-from",
            "2020-01-03",
            "--updated-before",
            "2021",
          ],
        ],
        {},
      );

      receiver.close();
      expect(asked).to.have.length(1);
      const { pathname, searchParams } = new URL(asked[0] ?? "", "http://x");
      expect(pathname).to.equal("/base/api/jobs");
      expect([...searchParams]).to.have.deep.members([
        ...[
          ["status", "failed"],
          ["status", "running"],
          ["name", "N"],
          ["jobId", "J"],
          ["stale", "false"],
        ],
        ...[
          ["metadata.a.b", "1"],
          ["metadata.a.b", "2"],
          ["createdFrom", "2020-01-01T00:00:00.000Z"],
        ],
        ...[
          ["createdBefore", "2020-01-01T23:00:00.000Z"],
          ["updatedFrom", "2020-01-03T00:00:00.000Z"],
        ],
        ...[
          ["updatedBefore", "2021-01-01T00:00:00.000Z"],
          ["limit", "7"],
        ],
      ]);
    });

    it("prints on standard error that there is no job", async () => {
      const { code, stdout, stderr } = await jobs("list", "--name", randomUUID());

      expect([code, stdout, stderr]).to.deep.equal([0, "", "No jobs match.\n"]);
    });

    it("uses colours and the width of a terminal, and no colours with NO_COLOR", async () => {
      const team = randomUUID();
      await createJob(app, { metadata: { team }, message: "漢字".repeat(60), status: "failed" });
      const args = ["jobs", "list", "--metadata", `team=${team}`];

      const coloured = onScreen(args, env, { columns: 72 });
      await coloured.ended;
      const plain = onScreen(args, { ...env, NO_COLOR: "1" }, { columns: 72 });
      await plain.ended;
      const forced = await runCli(args, { ...env, FORCE_COLOR: "1" }).ended;

      expect(coloured.raw()).to.include("\x1b[31mfailed\x1b[39m");
      expect(plain.raw()).to.not.include("\x1b");
      expect(forced.stdout).to.include("\x1b[31mfailed\x1b[39m");
      const lines = await coloured.lines();
      expect(lines).to.have.length(2); // not wrapped
      expect(lines[1]).to.match(/[漢字]…$/);
    });

    it("does not let a hostile name set the title or clear the screen of a terminal", async () => {
      const team = randomUUID();
      await createJob(app, { name: HOSTILE, metadata: { team } });

      const terminal = onScreen(["jobs", "list", "--metadata", `team=${team}`], env, { columns: 120 });
      await terminal.ended;

      expect(terminal.title()).to.equal("");
      expect(await terminal.lines()).to.have.length(2);
    });
  });

  describe("get", () => {
    it("prints the job, its values as JSON and its steps, the output last", async () => {
      const { jobId, path } = await createJob(app, { name: "Report", input: { month: "May" }, description: HOSTILE });
      await report(app, path, "collect", { stepName: "Collect", progress: 50, message: "120 of 240\nrows" });

      await app.call("PUT", path, { output: { rows: 240 } });

      const { stdout } = await jobs("get", jobId, "--steps");

      expect(stdout).to.match(new RegExp(`^Job +${jobId}\nName +Report\nDescription +evil`));
      expect(stdout).to.match(/^Step +Collect \(50 %\)$/m);
      expect(stdout).to.match(/^collect +Collect +running +50 % +1 +\d+s +120 of 240 rows$/m);
      expect(stdout).to.match(/^Input\n\{\n {2}"month": "May"\n\}\n\nSTEP /m);
      expect(stdout).to.match(/^Output\n\{\n {2}"rows": 240\n\}\n$/m);
      expect(stdout).to.not.match(/[^\P{Cc}\n]|\u202e/u);
    });

    it("prints the job as the service returns it with --json", async () => {
      const { jobId, path } = await createJob(app, { metadata: { a: [1] } });
      await report(app, path, "one", { progress: 10 });

      const { stdout } = await jobs("get", jobId, "--steps", "--json");

      expect(rows(stdout)).to.deep.equal([(await app.call("GET", `${path}?include=steps`)).body]);
    });

    it("exits with 3 if there is no such job", async () => {
      const { code, stdout, stderr } = await jobs("get", "nobody's");

      expect([code, stdout, stderr]).to.deep.equal([3, "", 'There is no job "nobody\'s".\n']);
    });

    it("finds a job whose id has special characters", async () => {
      const jobId = "ci/build 7 % 漢字 ?#";
      await app.call("PUT", `/api/jobs/${encodeURIComponent(jobId)}`, {});

      const { code, stdout } = await jobs("get", jobId, "--json");

      expect(code).to.equal(0);
      expect(rows(stdout)[0].jobId).to.equal(jobId);
    });
  });

  describe("delete", () => {
    const isThere = async (path: string) => (await app.call("GET", path)).status === 200;

    it("deletes named jobs and prints those that are missing", async () => {
      const [one, other, kept] = [await createJob(app), await createJob(app), await createJob(app)];

      const { code, stdout, stderr } = await jobs("delete", one.jobId, "gone", other.jobId);

      expect(code).to.equal(3);
      expect(stdout).to.equal(`deleted ${one.jobId}\ndeleted ${other.jobId}\n`);
      expect(stderr).to.equal("These jobs do not exist: gone.\n");
      const found = await Promise.all([one, other, kept].map(({ path }) => isThere(path)));
      expect(found).to.deep.equal([false, false, true]);
    });

    it("requires --yes with filters if there is no terminal", async () => {
      const team = randomUUID();
      const fitting = await createJob(app, { metadata: { team } });
      const other = await createJob(app);
      const args = ["delete", "--metadata", `team=${team}`];

      const refused = await jobs(...args);
      const wasThere = await isThere(fitting.path);
      const done = await jobs(...args, "--yes");

      expect(refused.code).to.equal(2);
      expect(refused.stderr).to.equal(
        "Delete 1 job, with their steps? There is no terminal to confirm it: pass --yes.\n",
      );
      expect(wasThere).to.equal(true);
      expect([done.code, done.stdout]).to.deep.equal([0, "deleted 1 job\n"]);
      expect([await isThere(fitting.path), await isThere(other.path)]).to.deep.equal([false, true]);
    });

    it("asks for confirmation at a terminal, and accepts only yes", async () => {
      const team = randomUUID();
      const { path } = await createJob(app, { metadata: { team } });
      const args = ["jobs", "delete", "--metadata", `team=${team}`];

      const no = atTerminal(args, env);
      await no.shows(/Delete 1 job.*\[y\/N\]/);
      no.type("\n");
      const noCode = await no.ended;
      const left = atTerminal(args, env);
      await left.shows(/\[y\/N\]/);
      left.type("\x04");
      const leftCode = await left.ended;
      const interrupted = atTerminal(args, env);
      await interrupted.shows(/\[y\/N\]/);
      interrupted.type("\x03");
      const interruptedCode = await interrupted.ended;
      const wasThere = await isThere(path);
      const yes = atTerminal(args, env);
      await yes.shows(/\[y\/N\]/);
      yes.type("y\n");
      const yesCode = await yes.ended;

      expect([noCode, leftCode, interruptedCode, wasThere]).to.deep.equal([1, 1, 130, true]);
      expect(await left.lines()).to.deep.equal(["Delete 1 job, with their steps? [y/N]", "Nothing was deleted."]);
      expect([yesCode, await isThere(path)]).to.deep.equal([0, false]);
    });

    const misused = [
      [[], /^Select jobs in one way: by ids, by filters such as --status failed, or with --all\.$/],
      [["a", "--status", "failed"], /^Select jobs in one way/],
      [["a", "--all"], /^Select jobs in one way/],
    ] as const;
    for (const [args, words] of misused) {
      it(`exits with 2 and deletes nothing for the arguments: ${args.join(" ") || "none"}`, async () => {
        const { path } = await createJob(app, { status: "failed" });

        const { code, stderr } = await jobs("delete", ...args, "--yes");

        expect(code).to.equal(2);
        expect(stderr.trim()).to.match(words);
        expect(await isThere(path)).to.equal(true);
      });
    }
  });

  describe("address and token", () => {
    const TOKEN = "api-token-of-the-test";
    let guarded: TestApp;
    let dir: string;
    before(async () => {
      guarded = await startApp({ apiToken: TOKEN, readOnlyToken: "reads-and-no-more" });
      dir = mkdtempSync(join(tmpdir(), "signalbox-cli-"));
    });
    after(async () => {
      await guarded.close();
      rmSync(dir, { recursive: true });
    });

    it("are those of the configuration", async () => {
      const { port } = new URL(guarded.url);
      writeFileSync(join(dir, "signalbox.json5"), `{ server: { port: ${port}, apiToken: "${TOKEN}" } }`);

      const { code, stderr } = await runInProcess(["jobs", "list"], { PORT: "" }, { cwd: dir });

      expect([code, stderr]).to.deep.equal([0, "No jobs match.\n"]);
    });

    it("are not mixed: the configured token is not sent to another URL", async () => {
      writeFileSync(join(dir, "signalbox.json5"), `{ server: { apiToken: "${TOKEN}" } }`);
      const list = (args: string[], env: Record<string, string>) =>
        runInProcess(["jobs", "list", ...args], env, { cwd: dir });

      const without = await list(["--url", guarded.url], {});
      const withToken = await list(["--url", guarded.url], { SIGNALBOX_API_TOKEN: TOKEN });
      const wrong = await list([], { SIGNALBOX_URL: guarded.url, SIGNALBOX_API_TOKEN: "not-the-right-token" });

      expect(without.code).to.equal(3);
      expect(without.stderr).to.equal(
        `The service at ${guarded.url} requires its API token: set SIGNALBOX_API_TOKEN (the configuration file is not used with --url or SIGNALBOX_URL).\n`,
      );
      expect(withToken.code).to.equal(0);
      expect(wrong.code).to.equal(3);
      expect(wrong.stderr).to.match(/rejected the API token: correct SIGNALBOX_API_TOKEN/);
      expect(wrong.stderr).to.not.include("not-the-right-token");
    });

    for (const name of ["SIGNALBOX_API_TOKEN", "SIGNALBOX_HOOKS_TOKEN"]) {
      for (const hidden of ["sec\nret-of-the-test", "secret-of-the-test-\u0100"]) {
        it(`report ${name} without showing it if no header can contain ${JSON.stringify(hidden)}`, async () => {
          const { code, stderr } = await runInProcess(["jobs", "list"], { SIGNALBOX_URL: guarded.url, [name]: hidden });

          expect(code).to.equal(1);
          expect(stderr).to.match(/^The (API|hook) token contains a line break or another character .*\n$/);
          expect(stderr).to.include(`Correct ${name}`).and.not.include("sec");
        });
      }
    }

    it("ignore white space around a token", async () => {
      const env = { SIGNALBOX_URL: guarded.url, SIGNALBOX_API_TOKEN: `${TOKEN}\n` };

      const { code, stderr } = await runInProcess(["jobs", "list"], env);

      expect([code, stderr]).to.deep.equal([0, "No jobs match.\n"]);
    });

    it("explain that a read-only token is not enough", async () => {
      const env = { SIGNALBOX_URL: guarded.url, SIGNALBOX_API_TOKEN: "reads-and-no-more" };

      const read = await runInProcess(["jobs", "list"], env);
      const deleted = await runInProcess(["jobs", "delete", "a"], env);

      expect(read.code).to.equal(0);
      expect(deleted.code).to.equal(3);
      expect(deleted.stderr).to.match(
        /^This token is read-only\. .* Set the full API token in SIGNALBOX_API_TOKEN .*\.$/m,
      );
    });

    it("explain how to start the service, or how to give its address, if it cannot be reached", async () => {
      const url = `http://127.0.0.1:${await freePort()}`;

      const { code, stderr } = await runInProcess(["jobs", "watch"], { SIGNALBOX_URL: url });

      expect(code).to.equal(3);
      expect(stderr).to.equal(
        `The service at ${url} cannot be reached (ECONNREFUSED). Start it with \`npm start\`, or name its address with --url or SIGNALBOX_URL.\n`,
      );
    });

    it("must be given if the configured service uses a free port", async () => {
      const { code, stderr } = await runInProcess(["jobs", "list"], { PORT: "0" }, { cwd: tmpdir() });

      expect(code).to.equal(2);
      expect(stderr).to.match(/^server\.port is 0, .*: name the address of the service with --url\.\n$/);
    });

    const unusable = ["ftp://x", "localhost:3000", "http://user:secret@127.0.0.1:1"];
    for (const url of unusable) {
      it(`reject ${url.split("@").pop()} with one sentence`, async () => {
        const { code, stderr } = await runInProcess(["jobs", "list", "--url", url], {});

        expect(code).to.equal(2);
        expect(stderr).to.match(/^--url .*: for example http:\/\/127\.0\.0\.1:3000\.\n$/);
        expect(stderr).to.not.include("secret");
      });
    }
  });
});
