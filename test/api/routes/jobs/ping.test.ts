import { expect } from "chai";
import { startApp } from "../../../support/app.ts";
import { useSharedApp } from "../../../support/useApp.ts";

describe("POST ping", () => {
  const app = useSharedApp();
  let jobId: string;
  let number = 0;
  beforeEach(() => {
    jobId = `cron-${number++}`;
  });

  /** Sends a body as curl does: without a type, or as a form. */
  const ping = async (path: string, text?: string, type = "application/x-www-form-urlencoded") => {
    const response = await fetch(`${app.url}/api/ping/${path}`, {
      method: "POST",
      ...(text !== undefined && { body: new TextEncoder().encode(text), headers: { "Content-Type": type } }),
    });
    return {
      status: response.status,
      type: response.headers.get("Content-Type"),
      text: await response.text(),
    };
  };
  const readJob = async (id = jobId) =>
    (await app.call("GET", `/api/jobs/${encodeURIComponent(id)}?include=steps`)).body;

  it("creates the job and its step ping, and answers ok as text", async () => {
    const answer = await ping(jobId, "Copying\n");

    expect(answer).to.deep.equal({ status: 200, type: "text/plain; charset=utf-8", text: "ok\n" });
    const job = await readJob();
    expect(job).to.include({ status: "running", progress: 0, message: "Copying", name: null });
    expect(job.steps).to.have.length(1);
    expect(job.steps[0]).to.include({ stepKey: "ping", stepName: "ping", status: "running", progress: 0 });
    expect(job.lastReportAt).to.be.a("string");
  });

  it("moves the job to a percentage, and never back", async () => {
    await ping(`${jobId}/40`);
    await ping(`${jobId}/12.5`, "slower");

    expect(await readJob()).to.include({ status: "running", progress: 40, message: "slower" });
  });

  it("keeps the message when a ping has no body", async () => {
    await ping(jobId, "First");
    await ping(`${jobId}/10`);
    await ping(`${jobId}/20`, " \n");

    expect(await readJob()).to.include({ progress: 20, message: "First" });
  });

  it("completes the job with done, and with the message as its output", async () => {
    await ping(`${jobId}/50`, "Half");
    await ping(`${jobId}/done`, "3 files");

    const job = await readJob();
    expect(job).to.include({ status: "completed", progress: 100, message: "3 files" });
    expect(job.output).to.deep.equal({ message: "3 files" });
  });

  it("fails the job with fail", async () => {
    await ping(`${jobId}/fail`, "disk full");

    const job = await readJob();
    expect(job).to.include({ status: "failed", message: "disk full", output: null });
    expect(job.steps[0]).to.include({ status: "failed" });
  });

  it("completes the job with exit code 0, and fails it with another", async () => {
    await ping(`${jobId}/exit/0`);
    await ping(`${jobId}-b/exit/3`);
    await ping(`${jobId}-c/exit/137`, "Killed");

    const completed = await readJob();
    expect(completed).to.include({ status: "completed", progress: 100 });
    expect(completed.output).to.deep.equal({ message: null, exitCode: 0 });
    expect(await readJob(`${jobId}-b`)).to.include({ status: "failed", message: "Exit code 3" });
    expect(await readJob(`${jobId}-c`)).to.include({ status: "failed", message: "Killed" });
  });

  for (const code of ["%20", "0x0", "0b0", "0e2", "0.0", "%200", "-", "zero"]) {
    it(`refuses the exit code ${code}, and reports nothing`, async () => {
      const { status, text } = await ping(`${jobId}/exit/${code}`);

      expect(status).to.equal(400);
      expect(text).to.include("code must be an integer");
      expect((await app.call("GET", `/api/jobs/${jobId}`)).status).to.equal(404);
    });
  }

  it("reads an exit code with a sign", async () => {
    await ping(`${jobId}/exit/+5`);
    await ping(`${jobId}-b/exit/-1`);

    expect(await readJob()).to.include({ status: "failed", message: "Exit code 5" });
    expect(await readJob(`${jobId}-b`)).to.include({ status: "failed", message: "Exit code -1" });
  });

  it("starts a job with a suffix for new=1 when the job has ended, and answers its id", async () => {
    const first = await ping(`${jobId}/exit/0?new=1`, "one");
    const second = await ping(`${jobId}?new=1`, "two");
    const next = second.text.trim().split(" ")[1] ?? "";
    const third = await ping(`${next}/exit/0?new=1`, "three");

    expect(first.text).to.equal(`ok ${jobId}\n`);
    expect(next).to.match(new RegExp(`^${jobId}-\\d{8}T\\d{9}Z$`));
    expect(third.text).to.equal(`ok ${next}\n`);
    expect(await readJob()).to.include({ status: "completed", message: "one" });
    expect(await readJob(next)).to.include({ status: "completed", message: "three" });
  });

  it("reports three runs of the documented recipe as three jobs", async () => {
    for (const run of ["one", "two", "three"]) {
      await ping(`${jobId}?new=1`, run);
      await ping(`${jobId}/50`);
      await ping(`${jobId}/exit/${run === "two" ? 3 : 0}`);
    }

    const { jobs } = (await app.call("GET", `/api/jobs?jobId=${jobId}&fields=status,progress,message`)).body;
    expect(jobs.map(({ status, message }: Record<string, string>) => [status, message])).to.deep.equal([
      ["completed", "three"],
      ["failed", "Exit code 3"],
      ["completed", "one"],
    ]);
  });

  it("returns the run that new=1 has begun until it ends, also to concurrent pings of several processes", async () => {
    const other = await startApp({ mongo: app.mongoUri });
    try {
      await ping(`${jobId}/done`);
      const pings = Array.from({ length: 20 }, (_, i) =>
        fetch(`${i % 2 ? other.url : app.url}/api/ping/${jobId}?new=1`, { method: "POST" }),
      );
      const answers = await Promise.all((await Promise.all(pings)).map((answer) => answer.text()));

      expect(new Set(answers).size).to.equal(1);
      expect((await app.call("GET", `/api/jobs?jobId=${jobId}`)).body.jobs).to.have.length(2);
    } finally {
      await other.close();
    }
  });

  it("does not take a job for a run of another id", async () => {
    await ping(`${jobId}/done`);
    await ping(`${jobId}-2x-20260101T000000000Z`);
    await ping(`${jobId}-2026`);
    await ping(`${jobId}/30`, "late");

    expect(await readJob()).to.include({ status: "completed", message: "late" });
  });

  it("leaves an ended job ended without new=1", async () => {
    await ping(`${jobId}/done`, "one");
    const answer = await ping(`${jobId}/30`, "late");

    expect(answer.status).to.equal(200);
    expect(await readJob()).to.include({ status: "completed", progress: 100 });
  });

  it("takes a body of any type and any bytes as the message", async () => {
    await ping(jobId, '{"a": 1}', "application/json");
    const afterJson = await readJob();
    const response = await fetch(`${app.url}/api/ping/${jobId}`, {
      method: "POST",
      body: Buffer.from([0x66, 0xfc, 0x72]),
    });

    expect(afterJson.message).to.equal('{"a": 1}');
    expect(response.status).to.equal(200);
    expect((await readJob()).message).to.equal("f\ufffdr");
  });

  it("keeps the end of a body that is longer than a message", async () => {
    await ping(jobId, `${"x".repeat(70_000)}the end`);

    const { message } = await readJob();
    expect(message)
      .to.have.length(65_536)
      .and.to.match(/xthe end$/);
  });

  it("creates one job when first pings arrive at once", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => ping(`${jobId}/${i}`)));

    expect(answers.map(({ status }) => status)).to.deep.equal(Array(20).fill(200));
    expect(await readJob()).to.include({ status: "running", progress: 19 });
  });

  it("takes an id with a slash that is percent-encoded", async () => {
    await ping("nightly%2Fbackup/exit/0");

    expect(await readJob("nightly/backup")).to.include({ status: "completed" });
  });

  for (const [state, detail] of [
    ["100", /^state must be done, fail, exit\/CODE, or the progress in percent from 0 to 99/],
    ["-1", /from 0 to 99/],
    ["finished", /must be done, fail/],
    ["exit/high", /^code must be/],
    ["exit/1.5", /^code must be/],
    ["10?new=yes", /^new must be one of 1/],
  ] as const) {
    it(`refuses ${state} with what is allowed, and creates no job`, async () => {
      const { status, text } = await ping(`${jobId}/${state}`);

      expect(status).to.equal(400);
      expect(JSON.parse(text)).to.include({ code: "invalid_query" });
      expect(JSON.parse(text).detail).to.match(detail);
      expect((await app.call("GET", `/api/jobs/${jobId}`)).status).to.equal(404);
    });
  }

  it("refuses a compressed body and one that is too large", async () => {
    const compressed = await fetch(`${app.url}/api/ping/${jobId}`, {
      method: "POST",
      headers: { "Content-Encoding": "gzip" },
      body: Buffer.from("x"),
    });
    const large = await ping(jobId, "x".repeat(app.config.server.bodyLimit + 1));

    expect([compressed.status, large.status]).to.deep.equal([415, 413]);
  });

  it("cuts an id that leaves no room for the suffix of new=1", async () => {
    const long = "x".repeat(250);
    await ping(`${long}/done`);
    const { status, text } = await ping(`${long}?new=1`);

    expect(status).to.equal(200);
    expect(text).to.match(/^ok x{236}-\d{8}T\d{9}Z\n$/);
  });
});
