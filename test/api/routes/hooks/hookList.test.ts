import { expect } from "chai";
import { readHookFigures } from "../../../../src/models/intake/hookFigures.ts";
import { HOOK_FIGURES_INDEX } from "../../../../src/models/intake/hookRequest.ts";
import { eventually } from "../../../support/eventually.ts";
import { stagesOf } from "../../../support/queryPlan.ts";
import { useApp } from "../../../support/useApp.ts";
import { api, CONFIG, hook } from "./keptRequests.ts";

const NO_REQUESTS = { accepted: 0, dropped: 0, failed: 0, filtered: 0, refused: 0 };

describe("GET /api/hooks", () => {
  const app = useApp({ config: CONFIG, countFailure: async () => {} });

  const send = (name: string, body: unknown, headers: Record<string, string> = hook) =>
    app.call("POST", `/hooks/${name}`, body, headers);
  const list = async () => (await app.call("GET", "/api/hooks", undefined, api)).body.hooks;

  it("lists the hooks of the configuration with their addresses, and those that no mapping takes", async () => {
    await send("ci", { branch: "main" });
    app.clock.advance(2 * 3_600_000);
    await send("ci", { branch: "next" });
    await send("ci", { branch: "main" }, {});
    await send("gihub", {});
    await eventually(async () => (await list()).at(-1).hook === "gihub", "the refused requests to be stored");

    const hooks = await list();

    const names = ["ci", "items", "github", "slack", "gitlab", "secret", "typos", "other", "gihub"];
    expect(hooks.map((one: { hook: string }) => one.hook)).to.deep.equal(names);
    const [ci, items] = hooks;
    expect(ci).to.deep.include({ mappings: ["ci"], sender: null, address: "/hooks/ci" });
    expect(ci.last).to.include({ outcome: "refused", status: 401 });
    expect(ci.hours).to.have.length(24);
    expect(ci.hours[23]).to.deep.equal({ ...NO_REQUESTS, accepted: 1, refused: 1 });
    expect([ci.hours[21], ci.hours[22]]).to.deep.include({ ...NO_REQUESTS, accepted: 1 });
    expect(items).to.deep.include({ last: null, hours: Array.from({ length: 24 }, () => NO_REQUESTS) });
    expect(hooks.at(-1)).to.deep.include({ mappings: [], sender: null, address: null });
    const { body } = await app.call("GET", "/api/hooks/requests?hook=gihub", undefined, api);
    expect(body.requests.map((row: { hook: string }) => row.hook)).to.deep.equal(["gihub"]);
  });

  it("sends a browser that opens the path of the hooks to the page about them, and nobody else", async () => {
    const get = (path: string, accept: string) =>
      fetch(app.url + path, { headers: { Accept: accept }, redirect: "manual" });
    const browser = "text/html,application/xhtml+xml,*/*;q=0.8";

    const visit = await get("/hooks", browser);

    expect([visit.status, visit.headers.get("location")]).to.deep.equal([302, "/requests"]);
    expect((await get("/hooks", "application/json")).status).to.equal(401);
    expect((await get("/hooks/ci", browser)).status).to.not.equal(302);
  });

  it("counts from an index, without reading a request", async () => {
    await send("ci", { branch: "main" });
    await readHookFigures(app.stores, app.clock.now());
    const { native } = app.stores.hookRequests.collection;
    const from = new Date(0);
    const plan = await native
      .find({ createdAt: { $gte: from } }, { projection: { hook: 1, createdAt: 1, outcome: 1 } })
      .sort(HOOK_FIGURES_INDEX)
      .hint(HOOK_FIGURES_INDEX)
      .explain("queryPlanner");
    expect(stagesOf(plan.queryPlanner.winningPlan)).to.include("IXSCAN").and.to.not.include("FETCH");
  });
});
