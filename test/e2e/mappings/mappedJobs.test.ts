import { createHmac } from "node:crypto";
import { expect } from "chai";
import fc from "fast-check";
import { eventually } from "../../support/eventually.ts";
import { MappedHookFixture } from "../../support/hooks/mappedHookFixture.ts";

const SECRET = "the-secret-of-the-sender";

type Body = Record<string, unknown>;

const DEPLOYS = {
  match: { path: "deploys" },
  action: "job",
  job: {
    id: "deploy/{{payload.id}}",
    name: "Deploy {{payload.app}}",
    message: "{{payload.text}}",
    step: { key: "{{payload.stage}}", name: "Stage {{payload.stage}}", from: 0, to: 50, failJob: true },
    status: { path: "payload.state", running: ["started"], completed: ["done"], failed: ["error", "aborted"] },
    progress: "{{payload.percent}}",
    links: [{ title: "Log {{payload.stage}}", url: "{{payload.log}}" }],
  },
};

describe("a mapping with action job", () => {
  let fixture: MappedHookFixture;
  let number = 0;
  let id: string;
  before(async () => {
    fixture = await MappedHookFixture.start(
      [
        DEPLOYS,
        {
          ...DEPLOYS,
          id: "own",
          idPrefix: "team/",
          match: { path: "own" },
          job: { ...DEPLOYS.job, output: "payload.result" },
        },
        { ...DEPLOYS, match: { path: "changed" }, transform: { module: "change.js" } },
        { id: "ci", preset: "github-actions", auth: { secret: SECRET } },
        { id: "gl", preset: "gitlab-pipeline", auth: { token: "the-token-of-gitlab" } },
        { id: "ce", preset: "cloudevents" },
      ],
      {
        hooks: 'keepRequests: "1d"',
        files: {
          "change.js":
            "export default ({ payload }) => payload.drop ? null : payload.wrong ? { status: 'over' } : payload.word && { status: payload.word, message: 'changed', id: 'moved/' + payload.id };",
        },
      },
    );
  });
  after(() => fixture.close());
  beforeEach(() => {
    id = `d${number++}`;
  });
  afterEach(() => {
    expect(fixture.model.requests, "turns of the agent").to.deep.equal([]);
  });

  const send = (body: Body, name = "deploys", headers?: Record<string, string>) =>
    fixture.run(name, { id, ...body }, headers);
  const read = async (jobId = `deploys/deploy/${id}`) =>
    (await fixture.app.call("GET", `/api/jobs/${encodeURIComponent(jobId)}?include=steps`)).body;
  const newestRequest = async () => {
    const { body } = await fixture.app.call("GET", "/api/hooks/requests?limit=1");
    return body.requests[0];
  };

  it("reports a job under the name of the mapping, and shows it in place of a run", async () => {
    const run = await send({ app: "shop", state: "started", percent: 30, text: "Building" });

    expect(run).to.include({ kind: "job", status: "completed", jobId: `deploys/deploy/${id}` });
    expect(await read()).to.include({ name: "Deploy shop", status: "running", progress: 30, message: "Building" });
    expect(await newestRequest()).to.deep.include({ outcome: "accepted", jobIds: [`deploys/deploy/${id}`] });
    await send({ state: "done", text: "Live" });
    expect(await read()).to.deep.include({
      status: "completed",
      progress: 100,
      message: "Live",
      output: { status: "done" },
    });
  });

  it("takes the output from its path, and another prefix", async () => {
    await send({ state: "done", result: { url: "https://shop" } }, "own");
    expect(await read(`team/deploy/${id}`)).to.deep.include({ status: "completed", output: { url: "https://shop" } });
    id = `${id}-list`;
    await send({ state: "done", result: [1] }, "own");
    expect((await read(`team/deploy/${id}`)).output).to.deep.equal({ value: [1] });
  });

  it("reports a step with its range, and leaves the status of the job to events without one", async () => {
    await send({ stage: "build", state: "started", percent: 50 });
    const running = await read();
    expect(running).to.include({ status: "running", progress: 25 });
    expect(running.steps[0]).to.include({ stepKey: "build", stepName: "Stage build", status: "running", progress: 50 });

    await send({ stage: "build", state: "done", percent: 10 });
    const built = await read();
    expect(built).to.include({ status: "running", progress: 50 });
    expect(built.steps[0]).to.deep.include({ status: "completed", progress: 100, output: { status: "done" } });
  });

  it("links the step or the job, but to pages only", async () => {
    await send({ stage: "build", log: "https://ci/1" });
    await send({ log: "https://ci/2" });
    await send({ log: "javascript:alert(1)" });

    const { links, steps } = await read();
    expect(steps[0].links).to.deep.equal([{ title: "Log build", url: "https://ci/1" }]);
    expect(links).to.deep.equal([{ title: "Log", url: "https://ci/2" }]);
  });

  it("fails the job with a step that has failJob", async () => {
    await send({ stage: "build", state: "error", text: "No space" });

    expect(await read()).to.include({ status: "failed", message: "No space" });
  });

  it("changes nothing by a status that no list names, and a message by none", async () => {
    await send({ state: "started", text: "One" });
    expect(await send({ state: "paused", text: "Two" })).to.include({ status: "dropped" });
    expect(await newestRequest()).to.deep.include({ outcome: "dropped", jobIds: [] });
    expect(await read()).to.include({ status: "running", message: "One" });
    await send({ text: "Three" });
    expect(await read()).to.include({ status: "running", message: "Three" });
  });

  it("never moves back by late events, and keeps a failure", async () => {
    await send({ state: "done", text: "Live" });
    await send({ state: "started", text: "Building", percent: 10 });
    expect(await read()).to.include({ status: "completed", progress: 100, message: "Live" });
    await send({ state: "error", text: "Broken" });
    await send({ state: "done", text: "Live" });
    expect(await read()).to.include({ status: "failed", message: "Broken" });
  });

  for (const [problem, body, message] of [
    ["an id without its value", { id: undefined, state: "done" }, /^job\.id is empty.*\n.*without a value: id/s],
    ...["half", "0x10", "0b11", "Infinity", "5 %"].map(
      (percent) => [`the progress ${percent}`, { percent }, /^job\.progress is not a number/] as const,
    ),
    ["an id of white space", { id: " \t", state: "done" }, /^job\.id is empty.*\n.*without a value/s],
    ["an id that is too long", { id: "x".repeat(300) }, /^job\.id has more than/],
    ["an id with control characters", { id: "a\u0000b" }, /^job\.id must not contain control/],
  ] as const) {
    it(`fails the request by ${problem}, without a job and without waking the agent`, async () => {
      const run = await send(body);

      expect(run).to.include({ kind: "job", status: "failed" });
      expect(run.error?.code).to.equal("mapping_failed");
      expect(run.error?.message).to.match(message);
      const isFailed = async () => (await newestRequest()).outcome === "failed"; // recorded after the end of the run
      await eventually(isFailed, "the outcome of the request");
      expect((await newestRequest()).jobIds).to.deep.equal([]);
      const { body: page } = await fixture.app.call(
        "GET",
        `/api/jobs?jobId=${encodeURIComponent("deploys/deploy/")}&search=${id}`,
      );
      expect(page.jobs).to.deep.equal([]);
      expect(await fixture.app.stores.mainEvents.collection.native.countDocuments()).to.equal(0);
    });
  }

  it("shows the reports in a dry run, and applies a replay again", async () => {
    await send({ state: "started", stage: "build" });
    const { requestId } = await newestRequest();
    const before = await read();
    const path = `/api/hooks/requests/${requestId}/replay`;
    const { body } = await fixture.app.call("POST", path, { dryRun: true });

    expect(body.runs[0]).to.deep.include({
      kind: "job",
      reports: [
        {
          jobId: `deploys/deploy/${id}`,
          name: "Deploy",
          step: { key: "build", name: "Stage build", from: 0, to: 50, failJob: true },
          status: "running",
          progress: null,
          message: null,
          links: null,
          output: null,
        },
      ],
    });
    expect(await read()).to.deep.equal(before);
    const replayed = await fixture.app.call("POST", path, {});
    expect(await fixture.ended(replayed.body.runId)).to.include({ kind: "job", status: "completed" });
  });

  it("lets a transform change or drop the report", async () => {
    await send({ state: "started", word: "completed" }, "changed");
    expect(await read(`changed/moved/${id}`)).to.include({ status: "completed", message: "changed" });
    expect(await send({ state: "started", drop: true }, "changed")).to.include({ status: "dropped" });
    await send({ state: "started" }, "changed");
    expect(await read(`changed/deploy/${id}`)).to.include({ status: "running" });
    const { error } = await send({ wrong: true }, "changed");
    expect(error).to.deep.include({ code: "transform_failed" });
  });

  it("ends in the same record whatever the order and the repetitions of events", async () => {
    const events = [
      { state: "started", text: "Began", percent: 5 },
      { stage: "build", state: "started" },
      { stage: "build", state: "done" },
      { stage: "test", state: "started", percent: 20 },
      { stage: "test", state: "done" },
      { state: "done", text: "Live" },
    ];
    const summary = async () => {
      const { status, progress, message, output, steps } = await read();
      const seen = steps.map((one: Body) => [one.stepKey, one.status, one.progress, one.output, one.attempts]);
      return { status, progress, message, output, steps: seen.sort() };
    };
    for (const event of events) await send(event);
    const expected = await summary();
    const all = fc.shuffledSubarray([...events.keys()], { minLength: events.length });
    await fc.assert(
      fc.asyncProperty(all, fc.array(fc.nat(events.length - 1), { maxLength: 3 }), async (order, again) => {
        id = `d${number++}`;
        for (const i of [...again, ...order]) await send({ app: "shop", ...events[i] });
        expect(await summary()).to.deep.equal(expected);
      }),
      { numRuns: 5, seed: 57 },
    );
  });

  describe("with the preset github-actions", () => {
    const github = (event: string, body: Body) => {
      const text = JSON.stringify({ repository: { full_name: `octo/${id}` }, ...body });
      const signature = createHmac("sha256", SECRET).update(text).digest("hex");
      return fixture.run("github-actions", text, {
        Authorization: "",
        "X-GitHub-Event": event,
        "X-Hub-Signature-256": `sha256=${signature}`,
      });
    };
    const run = (attempt: number, status: string, conclusion: string | null = null) =>
      github("workflow_run", {
        action: status,
        workflow_run: {
          html_url: "https://github.com/run/9",
          id: 9,
          run_attempt: attempt,
          name: "CI",
          display_title: "Fix it",
          status,
          conclusion,
        },
      });
    const job = (attempt: number, name: string, status: string, conclusion: string | null = null) =>
      github("workflow_job", {
        action: status,
        workflow_job: {
          id: name.length,
          run_id: 9,
          run_attempt: attempt,
          workflow_name: "CI",
          html_url: `https://github.com/job/${attempt}`,
          name,
          status,
          conclusion,
        },
      });

    it("makes a job of each attempt of a run, and steps of its jobs, in any order", async () => {
      await job(1, "lint", "queued");
      await run(1, "in_progress");
      await job(1, "lint", "completed", "failure");
      await run(1, "completed", "failure");
      await job(1, "lint", "in_progress");
      await run(2, "in_progress");
      await job(2, "lint", "completed", "success");

      const first = await read(`ci/octo/${id}/9/1`);
      expect(first).to.deep.include({ name: "CI", status: "failed", message: "Fix it" });
      expect(first.links).to.deep.equal([{ title: "GitHub", url: "https://github.com/run/9" }]);
      const stepLinks = [{ title: "GitHub", url: "https://github.com/job/1" }];
      expect(first.steps.map((one: Body) => [one.stepName, one.status, one.links])).to.deep.equal([
        ["lint", "failed", stepLinks],
      ]);
      expect(await read(`ci/octo/${id}/9/2`)).to.include({ status: "running" });
      await run(2, "completed", "success");
      expect(await read(`ci/octo/${id}/9/2`)).to.deep.include({ status: "completed", output: { status: "success" } });
    });
  });

  describe("with the preset gitlab-pipeline", () => {
    const gitlab = (body: Body) =>
      fixture.run("gitlab-pipeline", body, { Authorization: "", "X-Gitlab-Token": "the-token-of-gitlab" });
    const pipeline = (status: string, builds: Body[]) =>
      gitlab({
        object_kind: "pipeline",
        object_attributes: {
          id: 31,
          ref: "main",
          status,
          url: "http://192.168.64.1:3005/gitlab-org/gitlab-test/-/pipelines/31",
        },
        project: { name: "Gitlab Test", path_with_namespace: `gitlab/${id}`, web_url: "https://gitlab/shop" },
        commit: { title: "Fix it" },
        builds,
      });

    it("makes a job of a pipeline and steps of its jobs, which are sent with it and on their own", async () => {
      await pipeline("running", [
        { id: 380, stage: "test", name: "lint", status: "success" },
        { id: 377, stage: "test", name: "unit", status: "created" },
      ]);
      await gitlab({
        object_kind: "build",
        build_id: 377,
        build_name: "unit",
        build_stage: "test",
        build_status: "failed",
        pipeline_id: 31,
        project: { name: "Gitlab Test", path_with_namespace: `gitlab/${id}` },
      });
      const running = await read(`gl/gitlab/${id}/31`);
      expect(running).to.include({ name: "Gitlab Test", status: "running", message: "Fix it" });
      expect(running.links).to.deep.equal([{ title: "Pipeline", url: "https://gitlab/shop/-/pipelines/31" }]);
      expect(running.steps[0].links[0]).to.deep.equal({ title: "Job", url: "https://gitlab/shop/-/jobs/380" });
      expect(running.steps.map((one: Body) => [one.stepName, one.status])).to.deep.equal([
        ["test: lint", "completed"],
        ["test: unit", "failed"],
      ]);
      await pipeline("failed", [{ id: 380, stage: "test", name: "lint", status: "success" }]);
      expect(await read(`gl/gitlab/${id}/31`)).to.include({ status: "failed" });
    });
  });

  describe("with the preset cloudevents", () => {
    const event = (type: string, data: Body = {}) => ({
      specversion: "1.0",
      id: "1",
      source: "/backups",
      type,
      subject: `nightly/${id}`,
      data,
    });

    it("takes the structured mode", async () => {
      const headers = { "Content-Type": "application/cloudevents+json" };
      await fixture.run(
        "cloudevents",
        event("com.example.backup.started", { message: "Began", progress: 20 }),
        headers,
      );
      expect(await read(`ce/nightly/${id}`)).to.include({
        name: `nightly/${id}`,
        status: "running",
        progress: 20,
        message: "Began",
      });
      await fixture.run("cloudevents", event("com.example.backupFinished.v2", { files: 3 }), headers);
      expect(await read(`ce/nightly/${id}`)).to.deep.include({ status: "completed", output: { files: 3 } });
    });

    it("takes the binary mode, and its replay", async () => {
      const headers = {
        "ce-specversion": "1.0",
        "ce-id": "1",
        "ce-source": "/backups",
        "ce-subject": `n%C3%A4chtlich/${id}`,
      };
      await fixture.run("cloudevents", { message: "No space" }, { ...headers, "ce-type": "com.example.backup.failed" });

      expect(await read(`ce/nächtlich/${id}`)).to.include({ status: "failed", message: "No space" });
      const { requestId } = await newestRequest();
      const { body } = await fixture.app.call("POST", `/api/hooks/requests/${requestId}/replay`, { dryRun: true });
      expect(body.runs[0].reports[0]).to.include({ jobId: `ce/nächtlich/${id}`, status: "failed" });
    });

    it("fails an event without a subject, and drops one whose type says no status", async () => {
      expect(await fixture.run("cloudevents", { ...event("a.started"), subject: undefined })).to.include({
        status: "failed",
      });
      expect(await fixture.run("cloudevents", event("com.example.invoice"))).to.include({ status: "dropped" });
    });
  });
});
