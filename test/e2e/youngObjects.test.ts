import autocannon from "autocannon";
import { expect } from "chai";
import { takeDatabase } from "../support/databases.ts";
import { eventually } from "../support/eventually.ts";
import { type Service, startProcess } from "../support/process.ts";
import { redisUrl } from "../support/servers.ts";

const WEB = "src/api/main.ts";
/** A full collection under load makes whatever is under way old. */
const COLLECTS_ON_SIGNAL = 'data:text/javascript,process.on("SIGUSR2", () => gc());';
const CONNECTIONS = 50;
const REQUESTS = 24_000;
const COLLECTIONS = 6;
/** What a few collections may find alive of what was made since the one before: requests under way, jobs that are known. */
const MOST_ALIVE = 0.03;

const report = { stepName: "Step", progress: 50, jobProgressStart: 0, jobProgressEnd: 90, message: "50 of 100" };

/** Of a line that V8 prints of a collection (`--trace-gc-nvp`). */
const figure = (line: string, name: string) => Number(new RegExp(` ${name}=(\\d+)`).exec(line)?.[1]);
const sum = (lines: readonly string[], name: string) => lines.reduce((all, line) => all + figure(line, name), 0);

describe("the memory of requests that have been answered", () => {
  let web: Service | undefined;
  let giveDatabaseBack: (() => Promise<void>) | undefined;
  after(async () => {
    await web?.stop("SIGKILL");
    await giveDatabaseBack?.();
  });

  it("is free at the next collection of young objects, also where a full one came in the midst of load", async () => {
    const { uri, giveBack } = await takeDatabase();
    giveDatabaseBack = giveBack;
    const env = { MONGODB_URI: uri, REDIS_URL: await redisUrl(), LOG_LEVEL: "warn" };
    const service = startProcess("--trace-gc-nvp", env, ["--expose-gc", "--import", COLLECTS_ON_SIGNAL, WEB]);
    web = service;
    const { url } = await service.ready;
    const paths = Array.from({ length: CONNECTIONS }, (_, i) => `/api/jobs/job-${i}`);
    const headers = { "Content-Type": "application/json" };
    for (const path of paths) await fetch(url + path, { method: "PUT", headers, body: "{}" });
    const collections = () =>
      service
        .output()
        .stdout.split("\n")
        .filter((line) => line.includes("gc=s ") && line.includes("pool_total_chunks"));

    const setupClient = (client: autocannon.Client) => {
      const path = paths.pop() ?? "/healthz";
      const put = { method: "PUT", path: `${path}/steps/a`, headers, body: JSON.stringify(report) } as const;
      client.setRequests([put, { method: "GET", path }]);
    };
    const options = { url, connections: CONNECTIONS, amount: REQUESTS, setupClient };
    const { non2xx, errors } = await new Promise<autocannon.Result>((resolve, reject) => {
      const load = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)));
      let answered = 0;
      load.on("response", () => ++answered === REQUESTS / 2 && service.child.kill("SIGUSR2"));
    });
    await eventually(() => collections().length > COLLECTIONS, "V8 to tell of its collections");
    const last = collections().slice(-COLLECTIONS);

    expect(non2xx + errors).to.equal(0);
    expect(sum(last, "allocated")).to.be.greaterThan(10_000_000);
    expect(sum(last, "promoted") / sum(last, "allocated")).to.be.lessThan(MOST_ALIVE);
  });
});
