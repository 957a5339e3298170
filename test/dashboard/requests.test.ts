import { expect } from "chai";
import type { TestApp } from "../support/app.ts";
import { addressOf } from "../support/browser.ts";
import { untilPasses } from "../support/eventually.ts";
import { useDashboard } from "./useDashboard.ts";

const TOKEN = "a-hook-token-of-length";
const CONFIG = `{ hooks: { enabled: true, token: "${TOKEN}", keepRequests: "7d", mappings: [
  { match: { path: "ci", when: { "payload.result": "failed" } }, name: "CI", messageTemplate: "Build {{n}} failed", sessionKey: "hook:ci" },
] } }`;

describe("dashboard page of hooks", () => {
  let app: TestApp;
  const { openLive } = useDashboard(
    (started) => {
      app = started;
    },
    { config: CONFIG },
  );
  const send = (body: object, name = "ci") =>
    app.call("POST", `/hooks/${name}`, body, { Authorization: `Bearer ${TOKEN}` });

  it("lists what came with its outcome, and filters", async () => {
    await send({ n: 6, result: "passed" });
    await send({ n: 7, result: "failed" });
    await send({}, "nothing");
    const page = await openLive("/requests");
    const rows = page.getByRole("row");
    await page.getByRole("row").getByText("There is no hook at /hooks/nothing.").waitFor();
    await page.getByRole("row").getByText('Not matched: payload.result is "passed", not "failed"').waitFor();
    await untilPasses(async () => expect(await rows.count()).to.equal(4));

    await page.getByRole("link", { name: "Refused" }).click();

    await rows.nth(2).waitFor({ state: "detached" });
    await untilPasses(async () => expect(await rows.count()).to.equal(2));
    await untilPasses(async () => expect(await addressOf(page)).to.match(/outcome=refused/));
  });

  it("shows each hook with its address, the last verdict and its requests, and opens them", async () => {
    await send({ n: 7, result: "failed" });
    await send({}, "nothing");
    const page = await openLive("/requests");
    const hooks = page.getByRole("list", { name: "Hooks" }).getByRole("listitem");
    await hooks.nth(1).waitFor();
    const ci = hooks.filter({ hasText: `${app.url}/hooks/ci` });
    await ci.getByText("Started 1 run").waitFor();
    await ci.getByRole("img", { name: "1 request in 24 hours", exact: true }).waitFor();
    await ci.getByRole("button", { name: "Copy the address of ci" }).waitFor();
    const nothing = hooks.filter({ hasText: "No mapping takes it" });
    await nothing.getByRole("img", { name: "1 request in 24 hours, 1 refused or failed" }).waitFor();

    await nothing.getByRole("link", { name: "nothing" }).click();

    await page.getByRole("link", { name: "hook nothing ×" }).waitFor();
    await untilPasses(async () => expect(await page.getByRole("row").count()).to.equal(2));
  });

  it("shows a request as formatted JSON with its verdict and runs, and replays it", async () => {
    const sent = await send({ n: 7, result: "failed" });
    const page = await openLive("/requests");
    await page.getByRole("row").getByRole("link", { name: "ci", exact: true }).click();
    await page.getByRole("heading", { name: "ci" }).waitFor();
    const body = page.getByRole("region", { name: "Body, content" });
    await untilPasses(async () =>
      expect(await body.locator(".json-line").allTextContents()).to.deep.equal([
        "{",
        '"n": 7',
        '"result": "failed"',
        "}",
      ]),
    );
    await page.getByText("hook-token: valid").waitFor();
    await page.getByRole("link", { name: sent.body.runId }).waitFor();

    await page.getByRole("button", { name: "Dry run" }).click();
    await page.getByRole("heading", { name: "Matches ci" }).waitFor();
    await untilPasses(async () =>
      expect(await page.getByRole("region", { name: "Message 1, content" }).textContent()).to.equal("Build 7 failed"),
    );
    expect(await app.stores.runs.collection.native.countDocuments()).to.equal(1);

    await page.getByRole("button", { name: "Replay" }).click();
    await page.getByText("Replayed", { exact: true }).waitFor();
    const replay = await app.stores.runs.collection.native.findOne({ replayOf: { $exists: true } });
    await page.getByRole("link", { name: replay?._id ?? "" }).click();
    await page.getByRole("link", { name: "a kept request" }).waitFor();
  });
});
