import { expect } from "chai";
import fc from "fast-check";
import { JobTokens } from "../../../src/models/jobs/tokens/jobTokens.ts";
import { useSharedApp } from "../../support/useApp.ts";

const API = "an-api-token-of-length";
const KEY = "the-token-of-a-creator";
const READER = "the-token-of-a-reader-of-jobs";
const CONFIG = JSON.stringify({
  server: {
    apiToken: API,
    tokens: [
      { name: "airflow", token: KEY, scopes: ["jobs:create"], jobs: { idPrefix: "etl/" } },
      { name: "reader", token: READER, scopes: ["jobs:read"] },
    ],
  },
});

type Facets = Readonly<Record<string, unknown>>;

const uuid = (n: number) => `0197f7a4-6a7c-7c39-8a53-${String(n).padStart(12, "0")}`;
const at = (seconds: number) => new Date(Date.UTC(2026, 0, 31, 18, 0, seconds)).toISOString();
const job = (name: string) => ({ namespace: "airflow", name });
const parent = (runId: string, name: string) => ({ run: { runId }, job: job(name) });

describe("POST /api/v1/lineage", () => {
  const app = useSharedApp({ config: CONFIG });
  let base = 0;
  beforeEach(() => {
    base += 1_000;
  });

  const id = (n: number) => uuid(base + n);
  const event = (
    n: number,
    eventType: string | undefined,
    seconds: number,
    facets: Facets = {},
    more: Facets = {},
  ) => ({
    ...(eventType && { eventType }),
    eventTime: at(seconds),
    run: { runId: id(n), facets },
    job: { ...job(`job-${n}`), ...more },
    producer: "https://github.com/OpenLineage/OpenLineage",
    schemaURL: "https://openlineage.io/spec/2-0-2/OpenLineage.json",
    inputs: [{ namespace: "db", name: "orders", facets: {} }],
    outputs: [],
  });
  const step = (n: number, eventType: string, seconds: number, facets: Facets = {}) =>
    event(n, eventType, seconds, { parent: parent(id(0), "job-0"), ...facets });
  const send = (body: unknown, token = KEY) =>
    app.call("POST", "/api/v1/lineage", body, { Authorization: `Bearer ${token}` });
  const read = async (runId = id(0)) =>
    (
      await app.call("GET", `/api/jobs/${encodeURIComponent(`etl/${runId}`)}?include=steps`, undefined, {
        Authorization: `Bearer ${API}`,
      })
    ).body;

  it("makes jobs of the token of a run only below the job of the run", async () => {
    await app.stores.jobs.put("a-run", {});
    const jobTokens = new JobTokens(app.stores, app.clock, app.config.server);
    const { token } = await jobTokens.seal("a-run", "run", { ttlMs: 60_000 });

    const { status } = await app.call("POST", "/api/v1/lineage", event(1, "START", 1), {
      Authorization: `Bearer ${token}`,
    });

    expect(status).to.equal(201);
    expect(await app.stores.jobs.collection.exists({ jobId: `a-run/${id(1)}` })).to.equal(true);
    expect(await app.stores.jobs.collection.exists({ jobId: id(1) })).to.equal(false);
  });

  it("answers 201 with an empty body", async () => {
    const { status, body } = await send(event(0, "START", 0));

    expect({ status, body }).to.deep.equal({ status: 201, body: "" });
  });

  it("makes a job of a run without parent, and steps of those with one", async () => {
    await send(event(0, "START", 0));
    await send(step(1, "START", 1));
    await send(step(2, "RUNNING", 2));
    await send(step(1, "COMPLETE", 61));

    const running = await read();
    expect(running).to.include({ name: "job-0", status: "running", progress: 50, staleAfterSeconds: 86_400 });
    expect(running.steps.map((one: Facets) => [one.stepKey, one.stepName, one.status, one.progress])).to.deep.equal([
      [id(1), "job-1", "completed", 100],
      [id(2), "job-2", "running", 0],
    ]);
    await send(step(2, "COMPLETE", 70));
    expect(await read()).to.include({ status: "running", progress: 99 });
    await send(event(0, "COMPLETE", 71));
    expect(await read()).to.deep.include({ status: "completed", progress: 100, output: { status: "COMPLETE" } });
  });

  it("takes the duration of a step from the times of its events", async () => {
    await send([step(1, "COMPLETE", 61), step(1, "START", 1)]);

    const path = `/api/jobs/${encodeURIComponent(`etl/${id(0)}`)}/steps/${id(1)}`;
    const { body } = await app.call("GET", path, undefined, { Authorization: `Bearer ${API}` });
    expect(body).to.include({ status: "completed", durationMs: 60_000, startedAt: at(1) });
  });

  it("keeps message, nominal time and type, and drops the rest", async () => {
    const nominalTime = { nominalStartTime: at(0), _producer: "x" };
    const jobType = { processingType: "BATCH", integration: "AIRFLOW", jobType: "DAG" };
    const sourceCodeLocation = { type: "git", url: "https://git.example.com/orders.py" };
    const facets = { jobType, sourceCodeLocation, documentation: { description: "no" } };
    await send(event(0, "START", 0, { nominalTime }, { facets }));
    await send(event(0, "RUNNING", 1, {}, { facets: { sourceCodeLocation: { url: "javascript:alert(1)" } } }));
    await send(event(0, "FAIL", 9, { errorMessage: { message: "No space", programmingLanguage: "Python" } }));

    const { metadata, message, status, input, links } = await read();
    expect({ metadata, message, status, input, links }).to.deep.equal({
      links: [{ title: "Source", url: "https://git.example.com/orders.py" }],
      metadata: { namespace: "airflow", nominalTime: { nominalStartTime: at(0) }, jobType },
      message: "No space",
      status: "failed",
      input: null,
    });
  });

  it("fails a job that is aborted, as cancelled", async () => {
    await send([event(0, "START", 0), event(0, "ABORT", 5)]);

    expect(await read()).to.deep.include({ status: "failed", cancel: { requestedAt: at(5), reason: null } });
  });

  it("changes no status by OTHER or without a type", async () => {
    await send([event(0, "START", 0), event(0, "COMPLETE", 5)]);
    await send([event(0, "OTHER", 6), event(0, undefined, 7)]);
    await send(event(5, "OTHER", 1));

    expect(await read()).to.include({ status: "completed" });
    expect(await read(id(5))).to.include({ status: "running" });
  });

  it("makes a parent that has not come from the facet, and completes it later", async () => {
    await send(step(1, "START", 1));
    expect(await read()).to.include({ name: "job-0", status: "running" });
    await send(event(0, "COMPLETE", 9));
    expect(await read()).to.include({ name: "job-0", status: "completed" });
  });

  it("makes steps of the root of deeper runs that name it", async () => {
    const root = { root: { run: { runId: id(0) }, job: job("job-0") } };
    await send(event(2, "START", 1, { parent: { ...parent(id(1), "job-1"), ...root } }));

    expect((await read()).steps.map((one: Facets) => one.stepKey)).to.deep.equal([id(2)]);
  });

  it("makes steps of the root of deeper runs that name only their parent, in one list or after it", async () => {
    const below = (n: number, of: number) => event(n, "START", n, { parent: parent(id(of), `job-${of}`) });
    await send([below(3, 2), below(2, 1), below(1, 0), event(0, "START", 0)]);
    await send(below(4, 3));

    const keys = (await read()).steps.map((one: Facets) => one.stepKey);
    expect(keys.sort()).to.deep.equal([1, 2, 3, 4].map(id));
    expect((await read(id(3))).code).to.equal("job_not_found");
  });

  it("ends with runs that name each other as parents", async () => {
    const below = (n: number, of: number) => event(n, "START", n, { parent: parent(id(of), `job-${of}`) });
    const { status } = await send([below(1, 2), below(2, 1), below(3, 3)]);

    expect(status).to.equal(201);
  });

  for (const [problem, change, pointer] of [
    ["a wrong type of a known field", { eventTime: 5 }, "/eventTime"],
    ["a time without a zone", { eventTime: "2026-01-31T18:00:00" }, "/eventTime"],
    ["a leap second", { eventTime: "2016-12-31T23:59:60Z" }, "/eventTime"],
    ["the year 10000 in UTC", { eventTime: "9999-12-31T23:59:59-10:00" }, "/eventTime"],
    ["the year before 0000 in UTC", { eventTime: "0000-01-01T00:00:00+10:00" }, "/eventTime"],
    ["an unknown type of event", { eventType: "BEGIN" }, "/eventType"],
    ["a missing run", { run: undefined }, "/run"],
    [
      "a wrong type in a facet",
      { run: { runId: "a", facets: { errorMessage: { message: 5 } } } },
      "/run/facets/errorMessage/message",
    ],
    [
      "a wrong type in the parent",
      { run: { runId: "a", facets: { parent: { run: {}, job: job("x") } } } },
      "/run/facets/parent/run/runId",
    ],
    ["a runId that is too long behind the prefix", { run: { runId: "a".repeat(255) } }, "/run"],
  ] as const) {
    it(`answers 400 naming the field to ${problem}`, async () => {
      const wrong = { ...event(0, "START", 0), ...change };
      const one = await send(wrong);
      const list = await send([event(1, "START", 0), wrong]);

      expect(one.status).to.equal(400);
      expect(one.body.errors.map((error: Facets) => error.pointer)).to.deep.equal([pointer]);
      expect(list.body.errors.map((error: Facets) => error.pointer)).to.deep.equal([`/1${pointer}`]);
      expect((await read(id(1))).code).to.equal("job_not_found");
    });
  }

  it("takes a list of 1,000 events, and no longer one", async () => {
    const events = Array.from({ length: 1_000 }, (_, i) =>
      step(i % 100, i < 500 ? "START" : "COMPLETE", 1 + (i >= 500 ? 9 : 0)),
    );
    expect((await send(events)).status).to.equal(201);
    expect((await send([...events, events[0]])).status).to.equal(400);
  });

  it("needs the scope jobs:create", async () => {
    expect((await send(event(0, "START", 0), "no-token-of-anybody-here")).status).to.equal(401);
    const refused = await send(event(0, "START", 0), READER);
    expect([refused.status, refused.body.code]).to.deep.equal([403, "forbidden"]);
  });

  it("orders the events of a sender whose clock is ahead by their times, and shows none of the future", async () => {
    const ahead = Math.round((app.clock.now().getTime() - Date.parse(at(0))) / 1_000) + 3_600;
    for (const one of [event(0, "COMPLETE", ahead + 9), event(0, "START", ahead)]) await send(one);
    for (const one of [step(1, "FAIL", ahead + 5), step(1, "START", ahead + 1)]) await send(one);

    const { status, steps } = await read();
    expect([status, steps[0].status]).to.deep.equal(["completed", "failed"]);
    expect(Date.parse(steps[0].startedAt)).to.be.at.most(app.clock.now().getTime());
  });

  it("ends in the same record whatever the order and the repetitions of events", async () => {
    const sequence = (end: string) => [
      event(0, "START", 0, { nominalTime: { nominalStartTime: at(0) } }),
      step(1, "START", 1),
      step(1, "RUNNING", 2, { errorMessage: { message: "retrying" } }),
      step(1, "FAIL", 3, { errorMessage: { message: "no" } }),
      step(2, "START", 4),
      step(2, "COMPLETE", 4),
      step(3, "ABORT", 6),
      event(0, "OTHER", 7),
      event(0, end, 8),
    ];
    const summary = async () => {
      const { status, message, output, metadata, cancel, progress, steps, name } = await read();
      const seen = steps.map((one: Facets) => [
        one.stepKey,
        one.status,
        one.message,
        one.progress,
        one.startedAt,
        one.attempts,
      ]);
      // only the end says how far a job has come: before it, the steps that are known so far count
      return {
        status,
        message,
        output,
        metadata,
        cancel,
        name,
        steps: seen.sort(),
        ...(status === "completed" && { progress }),
      };
    };
    const relative = (record: unknown) => JSON.stringify(record).replaceAll(/-(\d{9})(\d{3})"/g, '-$2"');
    for (const end of ["COMPLETE", "FAIL", "ABORT"]) {
      base += 1_000;
      for (const one of sequence(end)) await send(one);
      const expected = relative(await summary());
      const indexes = fc.shuffledSubarray([...sequence(end).keys()], { minLength: sequence(end).length });
      const repeated = fc.array(fc.nat(sequence(end).length - 1), { maxLength: 5 });
      await fc.assert(
        fc.asyncProperty(indexes, repeated, fc.boolean(), async (order, again, asList) => {
          base += 1_000;
          const events = [...again, ...order].map((i) => sequence(end)[i]);
          if (asList) await send(events);
          else for (const one of events) await send(one);
          expect(relative(await summary())).to.equal(expected);
        }),
        { numRuns: 5, seed: 57 },
      );
    }
  });
});
