import { expect } from "chai";
import { useApp } from "../../support/useApp.ts";

const producer = (name: string) => `https://github.com/example/${name}/tree/2.1.0`;
const schemaURL = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent";
const time = (seconds: number) => `2026-02-05T10:00:${String(seconds).padStart(2, "0")}.123456+00:00`;
const uuid = (n: number) => `0194d5c1-6a7c-7c39-8a53-${String(n).padStart(12, "0")}`;
const facet = (name: string, fields: object) => ({
  [name]: { _producer: producer("p"), _schemaURL: `https://openlineage.io/spec/facets/1-0-0/${name}.json`, ...fields },
});
const refOf = (n: number, namespace: string, name: string) => ({ run: { runId: uuid(n) }, job: { namespace, name } });

/** The events of a DAG run with a task that is tried twice, with the facets that Airflow's provider documents. */
function airflowEvents(): object[] {
  const dag = refOf(0, "production", "orders");
  const engine = facet("processing_engine", { name: "Airflow", version: "3.0.1", openlineageAdapterVersion: "2.3.0" });
  const nominal = facet("nominalTime", {
    nominalStartTime: "2026-02-05T00:00:00Z",
    nominalEndTime: "2026-02-06T00:00:00Z",
  });
  const owner = facet("ownership", { owners: [{ name: "data", type: "group" }] });
  const event = (eventType: string, at: number, n: number, name: string, jobType: string, facets: object) => ({
    ...{ eventType, eventTime: time(at), producer: producer("airflow"), schemaURL, inputs: [], outputs: [] },
    run: { runId: uuid(n), facets: { ...engine, ...facets } },
    job: {
      ...{ namespace: "production", name },
      facets: { ...facet("jobType", { integration: "AIRFLOW", jobType, processingType: "BATCH" }), ...owner },
    },
  });
  const ofDag = (eventType: string, at: number) =>
    event(eventType, at, 0, "orders", "DAG", {
      ...nominal,
      ...facet("airflowDagRun", {
        dag: { dag_id: "orders", schedule_interval: "@daily" },
        dagRun: { run_type: "scheduled" },
      }),
      ...(eventType !== "START" &&
        facet("airflowState", { dagRunState: "success", tasksState: { "orders.load": "success" } })),
    });
  const ofTask = (eventType: string, at: number, n: number, more: object = {}) =>
    event(eventType, at, n, "orders.load", "TASK", {
      ...nominal,
      ...facet("parent", { ...dag, root: dag }),
      ...facet("airflow", { dag: { dag_id: "orders" }, task: { task_id: "load" }, taskInstance: { try_number: n } }),
      ...more,
    });
  const error = facet("errorMessage", {
    message: "no such table: orders",
    programmingLanguage: "python",
    stackTrace: "…",
  });
  return [
    ofDag("START", 0),
    ofTask("START", 1, 1),
    ofTask("FAIL", 2, 1, error),
    ofTask("START", 10, 2),
    ofTask("COMPLETE", 12, 2),
    ofDag("COMPLETE", 13),
  ];
}

/** The events of `dbt-ol run` below a task of a scheduler: a run of the project, and below it one for each model and test. */
function dbtEvents(): object[] {
  const version = facet("dbt_version", { version: "1.10.0" });
  const project = refOf(11, "dbt", "dbt-run-shop");
  const columns = [{ name: "id", type: "INTEGER" }];
  const output = {
    namespace: "postgres://db:5432",
    name: "shop.public.orders",
    facets: facet("schema", { fields: columns }),
  };
  const event = (eventType: string, at: number, n: number, name: string, facets: object, jobType: string) => ({
    ...{ eventType, eventTime: `2026-02-05T10:00:${at}.5Z`, producer: producer("dbt"), schemaURL },
    run: { runId: uuid(n), facets: { ...version, ...facets } },
    job: {
      ...{ namespace: "dbt", name },
      facets: {
        ...facet("jobType", { integration: "DBT", jobType, processingType: "BATCH" }),
        ...(jobType === "MODEL" && facet("sql", { query: "select 1 as id" })),
      },
    },
    inputs: jobType === "TEST" ? [{ ...output, inputFacets: facet("dataQualityAssertions", { assertions: [] }) }] : [],
    outputs: jobType === "MODEL" ? [{ ...output, outputFacets: facet("outputStatistics", { rowCount: 3 }) }] : [],
  });
  const task = refOf(10, "production", "orders.transform");
  const whole = (eventType: string, at: number, more: object = {}) =>
    event(eventType, at, 11, "dbt-run-shop", { ...facet("parent", { ...task }), ...more }, "JOB");
  const part = (eventType: string, at: number, n: number, name: string, jobType: string, more: object = {}) =>
    event(eventType, at, n, `shop.public.${name}`, { ...facet("parent", { ...project }), ...more }, jobType);
  return [
    whole("START", 20),
    part("START", 21, 12, "orders.build.run", "MODEL"),
    part("COMPLETE", 22, 12, "orders.build.run", "MODEL"),
    part("START", 23, 13, "orders.build.test", "TEST"),
    part("FAIL", 24, 13, "orders.build.test", "TEST", facet("errorMessage", { message: "Got 3 results, expected 0" })),
    whole("FAIL", 25, facet("errorMessage", { message: "1 of 2 nodes failed" })),
  ];
}

describe("senders of OpenLineage", () => {
  const app = useApp();

  const send = async (events: readonly object[]) => {
    for (const event of events) expect((await app.call("POST", "/api/v1/lineage", event)).status).to.equal(201);
  };
  const read = async (n: number) => (await app.call("GET", `/api/jobs/${uuid(n)}?include=steps`)).body;
  const stepsOf = ({ steps }: { steps: Record<string, unknown>[] }) =>
    steps.map(({ stepName, status, message }) => [stepName, status, message]);

  it("Airflow: a DAG run is a job, and each try of a task a step of it", async () => {
    await send(airflowEvents());

    const job = await read(0);
    expect(job).to.include({ name: "orders", status: "completed", progress: 100, message: null });
    expect(job.metadata).to.deep.equal({
      namespace: "production",
      nominalTime: { nominalStartTime: "2026-02-05T00:00:00Z", nominalEndTime: "2026-02-06T00:00:00Z" },
      jobType: { processingType: "BATCH", integration: "AIRFLOW", jobType: "DAG" },
    });
    expect(stepsOf(job)).to.deep.equal([
      ["orders.load", "failed", "no such table: orders"],
      ["orders.load", "completed", null],
    ]);
  });

  it("dbt: the run of a project and its models are steps of the task of the scheduler", async () => {
    await send(dbtEvents());

    const job = await read(10);
    expect(job).to.include({ name: "orders.transform", status: "running", progress: 99 });
    expect(stepsOf(job)).to.deep.equal([
      ["dbt-run-shop", "failed", "1 of 2 nodes failed"],
      ["shop.public.orders.build.run", "completed", null],
      ["shop.public.orders.build.test", "failed", "Got 3 results, expected 0"],
    ]);
    expect((await read(11)).code).to.equal("job_not_found");
  });

  it("dbt in a task of Airflow: its run is a step of the DAG run, although it takes the task for its root", async () => {
    const task = refOf(1, "production", "orders.load");
    const [whole, model] = dbtEvents() as { run: { facets: object } }[];
    const below = (event: typeof whole, parent: object) => ({
      ...event,
      run: { ...event?.run, facets: { ...event?.run.facets, ...facet("parent", { ...parent, root: task }) } },
    });
    const project = refOf(11, "dbt", "dbt-run-shop");
    await send([...airflowEvents().slice(0, 2), below(whole, task), below(model, project)]);

    expect(stepsOf(await read(0)).map(([name]) => name)).to.deep.equal([
      "orders.load",
      "dbt-run-shop",
      "shop.public.orders.build.run",
    ]);
    expect((await read(1)).code).to.equal("job_not_found");
  });

  it("dbt alone: the run of a project is the job", async () => {
    const alone = dbtEvents().map((event) => {
      const { run, job } = event as { run: { facets: object }; job: { name: string } };
      const { parent, ...facets } = run.facets as { parent: object };
      return { ...event, run: { ...run, facets: job.name === "dbt-run-shop" ? facets : { parent, ...facets } } };
    });
    await send(alone);

    const job = await read(11);
    expect(job).to.include({ name: "dbt-run-shop", status: "failed", message: "1 of 2 nodes failed" });
    expect(job.stepCounts).to.deep.equal({ running: 0, completed: 1, failed: 1 });
  });
});
