import { expect } from "chai";
import fc from "fast-check";
import { MappedHookFixture } from "../../support/hooks/mappedHookFixture.ts";

const TOKEN = "the-token-of-gitlab";
const HOST = "https://gitlab.example.com";
const PATH = "shop/web";

/** The parts that GitLab sends with every event, by its documentation of webhook events. */
const user = {
  id: 1,
  name: "Administrator",
  username: "root",
  avatar_url: `${HOST}/a.png`,
  email: "root@gitlab.example.com",
};
const project = {
  ...{ id: 380, name: "Web shop", description: "The shop.", web_url: `${HOST}/${PATH}`, avatar_url: null },
  ...{ git_ssh_url: "git@gitlab.example.com:shop/web.git", git_http_url: `${HOST}/${PATH}.git`, namespace: "Shop" },
  ...{ visibility_level: 20, path_with_namespace: PATH, default_branch: "main", ci_config_path: null },
};
const runner = {
  ...{ id: 380_987, description: "runners-manager-6", active: true, runner_type: "instance_type", is_shared: true },
  tags: ["linux", "docker"],
};
const source_pipeline = {
  project: { id: 41, web_url: `${HOST}/up`, path_with_namespace: "up" },
  pipeline_id: 30,
  job_id: 3_401,
};

const build = (id: number, stage: string, name: string, status: string) => ({
  ...{ id, stage, name, status, created_at: "2026-08-12 15:23:28 UTC", started_at: null, finished_at: null },
  ...{ duration: 17.4, queued_duration: 196.1, failure_reason: status === "failed" ? "script_failure" : null },
  ...{ when: "on_success", manual: false, allow_failure: false, user, runner: status === "created" ? null : runner },
  ...{ artifacts_file: { filename: null, size: null } },
  environment: stage === "deploy" ? { name, action: "start", deployment_tier: name } : null,
});

const pipeline = (status: string, builds: readonly object[], id = 31) => ({
  object_kind: "pipeline",
  object_attributes: {
    ...{
      id,
      iid: 3,
      name: "Pipeline for branch: main",
      ref: "main",
      tag: false,
      sha: "bcbb5ec3",
      before_sha: "bcbb5ec2",
    },
    ...{ source: "push", status, detailed_status: status, stages: ["build", "test", "deploy"] },
    ...{ created_at: "2026-08-12 15:23:28 UTC", finished_at: null, duration: null, queued_duration: 12 },
    ...{ variables: [{ key: "REGION", value: "eu-west-1" }], url: `${HOST}/${PATH}/-/pipelines/${id}` },
  },
  merge_request: { id: 1, iid: 1, title: "Test", source_branch: "test", target_branch: "main", state: "opened" },
  user,
  project,
  commit: {
    ...{ id: "bcbb5ec3", message: "Fix the cart\n\nIt was empty.\n", title: "Fix the cart" },
    ...{ timestamp: "2026-08-12T17:23:21+02:00", url: `${HOST}/${PATH}/commit/bcbb5ec3` },
    author: { name: "User", email: "user@gitlab.example.com" },
  },
  source_pipeline,
  builds,
});

const job = (build_id: number, build_name: string, build_status: string) => ({
  ...{ object_kind: "build", ref: "main", tag: false, before_sha: "bcbb5ec2", sha: "bcbb5ec3", retries_count: 2 },
  ...{ build_id, build_name, build_stage: "test", build_status, build_created_at: "2026-08-12T15:23:28.886Z" },
  ...{ build_started_at: null, build_finished_at: null, build_duration: null, build_queued_duration: 1_095.58 },
  ...{ build_allow_failure: false, build_failure_reason: "unknown_failure", pipeline_id: 31, project_id: 380 },
  ...{ project_name: "Shop / Web shop", user, runner, environment: null, source_pipeline, project },
  commit: { id: 31, name: "Pipeline for branch: main", sha: "bcbb5ec3", message: "Fix the cart\n", status: "running" },
  repository: { name: "Web shop", description: "The shop.", homepage: `${HOST}/${PATH}`, visibility_level: 20 },
});

describe("pipelines of GitLab", () => {
  let fixture: MappedHookFixture;
  before(async () => {
    fixture = await MappedHookFixture.start([{ id: "gl", preset: "gitlab-pipeline", auth: { token: TOKEN } }]);
  });
  after(() => fixture.close());

  const send = (body: object, event: string) =>
    fixture.run("gitlab-pipeline", body, { Authorization: "", "X-Gitlab-Token": TOKEN, "X-Gitlab-Event": event });
  const read = async (id = 31) =>
    (await fixture.app.call("GET", `/api/jobs/${encodeURIComponent(`gl/${PATH}/${id}`)}?include=steps`)).body;

  it("are jobs whose steps are the jobs of the pipeline, from whole payloads and to the end", async () => {
    const image = build(376, "build", "image", "success");
    const unit = (status: string) => build(377, "test", "unit", status);
    const lint = (status: string) => build(378, "test", "lint", status);
    const production = (status: string) => build(380, "deploy", "production", status);
    await send(
      pipeline("running", [production("created"), unit("running"), lint("waiting_for_callback"), image]),
      "Pipeline Hook",
    );
    const running = await read();
    await send(job(377, "unit", "success"), "Job Hook");
    await send(job(378, "lint", "canceling"), "Job Hook");
    await send(job(378, "lint", "failed"), "Job Hook");
    await send(pipeline("failed", [production("skipped"), unit("success"), lint("failed"), image]), "Pipeline Hook");

    const ended = await read();
    expect(running).to.include({ name: "Web shop", status: "running", message: "Fix the cart" });
    expect(running.stepCounts).to.deep.equal({ running: 3, completed: 1, failed: 0 });
    expect(ended).to.include({ status: "failed" });
    expect(ended.links).to.deep.equal([{ title: "Pipeline", url: `${HOST}/${PATH}/-/pipelines/31` }]);
    const steps = ended.steps.map((one: Record<string, unknown>) => [one.stepKey, one.stepName, one.status]);
    expect(steps.toSorted()).to.deep.equal([
      ["376", "build: image", "completed"],
      ["377", "test: unit", "completed"],
      ["378", "test: lint", "failed"],
      ["380", "deploy: production", "completed"],
    ]);
    expect(ended.steps[0].links[0]).to.deep.equal({
      title: "Job",
      url: `${HOST}/${PATH}/-/jobs/${ended.steps[0].stepKey}`,
    });
    expect(fixture.model.requests).to.deep.equal([]);
  });

  it("run again when one of their jobs is retried, and end anew, in any order of events", async () => {
    const image = build(376, "build", "image", "success");
    const unit = (id: number, status: string) => build(id, "test", "unit", status);
    const first = (id: number) => [
      pipeline("running", [image, unit(377, "running")], id),
      pipeline("failed", [image, unit(377, "failed")], id),
    ];
    const again = (id: number) => pipeline("running", [unit(381, "pending"), image], id);
    const last = (id: number) => pipeline("success", [unit(381, "success"), image], id);
    const seen = async (id: number) => {
      const { status, progress, output, steps } = await read(id);
      return { status, progress, output, steps: steps.map((one: Record<string, unknown>) => one.status).toSorted() };
    };

    for (const one of [...first(40), again(40)]) await send(one, "Pipeline Hook");
    expect(await seen(40)).to.deep.include({ status: "running" });
    await send(first(40)[1] as object, "Pipeline Hook");
    expect(await seen(40)).to.deep.include({ status: "running" });
    await send(last(40), "Pipeline Hook");
    const ended = await seen(40);
    expect(ended).to.deep.equal({
      status: "completed",
      progress: 100,
      output: { status: "success" },
      steps: ["completed", "completed", "failed"],
    });
    let id = 41;
    const orders = fc.shuffledSubarray([0, 1, 2, 3, 1], { minLength: 5 });
    await fc.assert(
      fc.asyncProperty(orders, async (order) => {
        id++;
        const all = [...first(id), again(id), last(id)];
        for (const i of order) await send(all[i] as object, "Pipeline Hook");
        expect(await seen(id)).to.deep.equal(ended);
      }),
      { numRuns: 4, seed: 57 },
    );
  });

  for (const [what, number] of [
    ["a text", "377"],
    ["too large", 1e300],
    ["a fraction", 0.5],
    ["negative", -5],
    ["missing", undefined],
  ] as const) {
    it(`end as ever when the id of a job is ${what}`, async () => {
      const id = 60 + what.length;
      const odd = { ...build(1, "test", "unit", number === undefined ? "failed" : "success"), id: number };
      await send(pipeline("success", [odd], id), "Pipeline Hook");
      await send(pipeline("running", [odd], id), "Pipeline Hook");

      expect(await read(id)).to.include({ status: "completed" });
    });
  }

  it("have no other events of GitLab among them", async () => {
    const headers = { Authorization: "", "X-Gitlab-Token": TOKEN, "X-Gitlab-Event": "Push Hook" };
    const { body } = await fixture.post("gitlab-pipeline", { object_kind: "push", project }, headers);

    expect(body.runIds ?? []).to.deep.equal([]);
  });
});
