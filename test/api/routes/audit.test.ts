import { expect } from "chai";
import { AppError } from "../../../src/shared/errors.ts";
import { bearer } from "../../support/app.ts";
import { useApp } from "../../support/useApp.ts";

const API = "an-api-token-of-length";
const CI = "the-token-of-the-ci-system";
const CONFIG = JSON.stringify({
  server: { apiToken: API, tokens: [{ name: "ci", token: CI, scopes: ["jobs:read", "jobs:write", "runs:write"] }] },
  hooks: { enabled: true, token: "a-hook-token-of-length" },
});

describe("GET /api/audit", () => {
  const app = useApp({ config: CONFIG });
  beforeEach(async () => {
    await app.stores.jobs.put("a", {});
  });

  const list = async (query = "") => (await app.call("GET", `/api/audit${query}`, undefined, bearer(API))).body;
  const entries = async (query = "") =>
    (await list(query)).entries.map(({ actor, action, target }: Record<string, unknown>) => [actor, action, target]);

  it("names who did what, newest first, with address and request", async () => {
    await app.call("POST", "/api/jobs/a/token", { scope: "read" }, bearer(CI));
    await app.call("DELETE", "/api/jobs/a", undefined, bearer(CI));
    await app.call("DELETE", "/api/jobs?status=failed", undefined, bearer(API));

    expect(await entries()).to.deep.equal([
      ["api-token", "jobs.delete", '{"status":["failed"]}'],
      ["ci", "job.delete", "a"],
      ["ci", "token.create", "a"],
    ]);
    const [entry] = (await list()).entries;
    const logged = app.log.filter(({ reqId }) => reqId === entry.requestId);
    expect(logged).to.have.length(1);
    expect(entry.address).to.match(/127\.0\.0\.1|::1/);
  });

  it("has no entry for an action that failed, or that only reads", async () => {
    await app.call("DELETE", "/api/jobs/missing", undefined, bearer(CI));
    await app.call("POST", "/api/runs/missing/retry", undefined, bearer(CI));
    await app.call("GET", "/api/jobs", undefined, bearer(CI));

    expect(await entries()).to.deep.equal([]);
  });

  it("records log-ins and refused tokens, without the token", async () => {
    const { headers } = await app.call("POST", "/session", { token: CI });
    const cookie = { Cookie: headers.get("Set-Cookie")?.split(";")[0] as string };
    await app.call("DELETE", "/api/jobs/a", undefined, cookie);
    await app.call("GET", "/api/jobs", undefined, bearer("a-guess-of-a-token"));
    await app.call("POST", "/session", { token: "another-guess-of-a-token" });
    await app.call("GET", "/api/jobs");

    expect(await entries()).to.deep.equal([
      ["anonymous", "token.refused", null],
      ["anonymous", "token.refused", null],
      ["cookie:ci", "job.delete", "a"],
      ["cookie:ci", "login", null],
    ]);
    expect(JSON.stringify(await list())).to.not.match(/guess|the-token/);
  });

  it("has targets that no two gates share, and filters in an order that the caller does not choose", async () => {
    for (const [jobId, key] of [
      ["a%2Fx", "y%2Fz"],
      ["a%2Fx%2Fy", "z"],
    ]) {
      await app.call("PUT", `/api/jobs/${jobId}`, {}, bearer(API));
      await app.call("PUT", `/api/jobs/${jobId}/gates/${key}`, { title: "Go?" }, bearer(API));
      await app.call("DELETE", `/api/jobs/${jobId}/gates/${key}`, undefined, bearer(API));
    }
    const many = "&status=running".repeat(130);
    await app.call("DELETE", `/api/jobs?createdFrom=2000-01-01T00:00:00Z${many}&jobId=a`, undefined, bearer(API));

    expect((await entries()).map(([, , target]: unknown[]) => target)).to.deep.equal([
      '{"jobId":"a","status":["running"],"createdFrom":"2000-01-01T00:00:00Z"}',
      ...["a%2Fx%2Fy/z", "a%2Fx/y%2Fz"],
    ]);
  });

  it("has the id of the service beside that of the caller, who may send the id of another's request", async () => {
    const chosen = { ...bearer(API), "X-Request-Id": "the-id-of-another" };
    await app.call("DELETE", "/api/jobs/a", undefined, chosen);

    const [entry] = (await list()).entries;
    expect(entry.requestId).to.equal("the-id-of-another");
    expect(entry.serviceRequestId).to.match(/^[0-9a-f-]{36}$/);
    expect(app.log.filter(({ serviceReqId }) => serviceReqId === entry.serviceRequestId)).to.have.length(1);
  });

  it("has the entry of a deletion before the deletion, which does not take place without it", async () => {
    const { collection } = app.stores.audit;
    const insert = collection.insertOne;
    collection.insertOne = () => Promise.reject(new AppError("unavailable", {}));
    const refused = await app.call("DELETE", "/api/jobs/a", undefined, bearer(API));
    collection.insertOne = insert;

    expect(refused.status).to.equal(503);
    expect((await app.stores.jobs.find("a")).jobId).to.equal("a");
  });

  it("records a job token by its job", async () => {
    const { body } = await app.call("POST", "/api/jobs/a/token", { scope: "report" }, bearer(API));
    await app.call("DELETE", "/api/jobs/a", undefined, bearer(body.token));
    await app.call("PUT", "/api/jobs/a/steps/s", { stepName: "S" }, bearer(body.token));

    expect(await entries()).to.deep.equal([["api-token", "token.create", "a"]]);
  });

  it("filters and pages", async () => {
    for (const jobId of ["b", "c", "d"]) {
      await app.stores.jobs.put(jobId, {});
      await app.call("DELETE", `/api/jobs/${jobId}`, undefined, bearer(CI));
    }
    await app.call("DELETE", "/api/jobs/a", undefined, bearer(API));

    const first = await list("?actor=ci&limit=2");
    const second = await list(`?actor=ci&limit=2&cursor=${encodeURIComponent(first.nextCursor)}`);
    const targets = [...first.entries, ...second.entries].map(({ target }) => target);

    expect(targets).to.deep.equal(["d", "c", "b"]);
    expect(second.nextCursor).to.equal(null);
    expect(await entries("?target=c")).to.deep.equal([["ci", "job.delete", "c"]]);
    expect(await entries("?action=login")).to.deep.equal([]);
    expect(await entries("?before=2020-01-01T00:00:00Z")).to.deep.equal([]);
    expect(await entries("?from=2020-01-01T00:00:00Z&action=job.delete")).to.have.length(4);
  });

  it("records refused tokens of hooks", async () => {
    await app.call("POST", "/hooks/wake", { text: "x" }, bearer("a-guess-of-a-hook-token"));
    await app.call("POST", "/hooks/wake", { text: "x" });

    expect(await entries("?action=token.refused")).to.deep.equal([["anonymous", "token.refused", null]]);
  });

  it("limits the entries of refused tokens by the limit for failures", async () => {
    for (let i = 0; i < 30; i++) await app.call("GET", "/api/jobs", undefined, bearer(`a-guess-of-a-token-${i}`));

    expect(await entries("?action=token.refused")).to.have.length(20);
  });
});
