import { expect } from "chai";
import type { Page } from "playwright-core";
import { addressOf } from "../support/browser.ts";
import { untilPasses } from "../support/eventually.ts";
import { useDashboard } from "./useDashboard.ts";

const TOKEN = "a-hook-token-of-length";
const CONFIG = `{ hooks: { enabled: true, token: "${TOKEN}", keepRequests: "7d", mappings: [
  { match: { path: "ci", when: { "payload.result": "failed" } }, name: "CI", messageTemplate: "Build {{n}} failed", sessionKey: "hook:ci" },
] } }`;

const requestRows = (page: Page) => page.getByRole("table", { name: "Requests to hooks" }).getByRole("row");

describe("dashboard page of hooks", () => {
  const { app, openLive } = useDashboard({ config: CONFIG });
  const send = (body: object, name = "ci") =>
    app.call("POST", `/hooks/${name}`, body, { Authorization: `Bearer ${TOKEN}` });

  it("lists what came with its outcome, and filters", async () => {
    await send({ n: 6, result: "passed" });
    await send({ n: 7, result: "failed" });
    await send({}, "nothing");
    const page = await openLive("/requests");
    const rows = requestRows(page);
    await requestRows(page).getByText("There is no hook at /hooks/nothing.").waitFor();
    await requestRows(page).getByText('Not matched: payload.result is "passed", not "failed"').waitFor();
    await untilPasses(async () => expect(await rows.count()).to.equal(4));

    await page.getByRole("link", { name: "Refused" }).click();

    await rows.nth(2).waitFor({ state: "detached" });
    await untilPasses(async () => expect(await rows.count()).to.equal(2));
    await untilPasses(async () => expect(await addressOf(page)).to.match(/outcome=refused/));
  });

  it("shows no request before the hooks above, which would move it away from the pointer", async () => {
    await send({ n: 7, result: "failed" });
    const page = await openLive("/");
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\/api\/hooks$/, (route) => held.then(() => route.continue()));
    const requests = page.waitForResponse(/\/api\/hooks\/requests/);
    await page.goto(`${app.url}/requests`);
    await (await requests).finished();
    const before = await page.getByRole("row").count();
    release();

    await requestRows(page).getByRole("link", { name: "ci", exact: true }).waitFor();
    expect(before).to.equal(0);
    expect(await page.getByRole("table", { name: "Hooks", exact: true }).count()).to.equal(1);
  });

  it("shows each hook with its address, the last verdict and its requests, and opens them", async () => {
    await send({ n: 7, result: "failed" });
    await send({}, "nothing");
    const page = await openLive("/requests");
    const hooks = page.getByRole("table", { name: "Hooks", exact: true }).getByRole("row");
    await hooks.nth(1).waitFor();
    const ci = hooks.filter({ hasText: `${app.url}/hooks/ci` });
    await ci.getByText("Started 1 run").waitFor();
    await ci.getByRole("img", { name: "1 request in 24 hours", exact: true }).waitFor();
    await ci.getByRole("button", { name: "Copy the address of ci" }).waitFor();
    const nothing = hooks.filter({ hasText: "No mapping takes it" });
    await nothing.getByRole("img", { name: "1 request in 24 hours, 1 refused or failed" }).waitFor();

    await page.keyboard.press("j"); // The keys move through the requests, not the hooks above.
    await untilPasses(async () => expect(await requestRows(page).locator("a:focus").count()).to.equal(1));

    await nothing.getByRole("link", { name: "nothing" }).click();

    await page.getByRole("link", { name: "hook nothing ×" }).waitFor();
    await untilPasses(async () => expect(await requestRows(page).count()).to.equal(2));
  });

  it("shows a request as formatted JSON with its verdict and runs, and replays it", async () => {
    const sent = await send({ n: 7, result: "failed" });
    const page = await openLive("/requests");
    await requestRows(page).getByRole("link", { name: "ci", exact: true }).click();
    await page.getByRole("heading", { name: "ci", exact: true }).waitFor();
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
    const run = page.getByRole("region", { name: "Went out" }).getByRole("link", { name: "CI" });
    expect(await run.getAttribute("href")).to.equal(`/runs/${sent.body.runId}`);

    await page.getByRole("heading", { name: "Matches ci" }).waitFor();
    const conditions = page.getByRole("list", { name: "Conditions of ci" }).getByRole("listitem");
    expect(await conditions.allTextContents()).to.deep.equal(['✓Met: payload.result is "failed"']);
    await page.getByText("1 placeholder", { exact: true }).click();
    await page.getByRole("region", { name: "Mapping", exact: true }).getByText("7", { exact: true }).waitFor();
    await untilPasses(async () =>
      expect(await page.getByRole("region", { name: "Message 1, content" }).textContent()).to.equal("Build 7 failed"),
    );
    expect(await app.stores.runs.collection.native.countDocuments()).to.equal(1);

    await page.getByRole("button", { name: "Replay" }).click();
    await page.getByText("Replayed", { exact: true }).waitFor();
    const replay = await app.stores.runs.collection.native.findOne({ replayOf: { $exists: true } });
    const link = page.getByRole("link", { name: "open the run" });
    expect(await link.getAttribute("href")).to.equal(`/runs/${replay?._id}`);
    await link.click();
    await page.getByRole("link", { name: "a kept request" }).waitFor();
  });

  it("names a request by its event and object, and shows the condition that it does not meet", async () => {
    const body = { action: "labeled", repository: { full_name: "octo/shop" }, result: "passed" };
    await app.call("POST", "/hooks/ci", body, { Authorization: `Bearer ${TOKEN}`, "X-GitHub-Event": "issues" });
    const page = await openLive("/requests");
    const row = requestRows(page).filter({ hasText: "octo/shop" });

    await row.getByRole("link", { name: "issues · labeled" }).click();

    await page.getByRole("heading", { name: "ci issues · labeled" }).waitFor();
    await page.getByRole("heading", { name: "No mapping matches" }).waitFor();
    await page.getByText('Not met: payload.result is "failed" found "passed"').waitFor();
    await page.getByRole("region", { name: "Went out" }).getByText("Nothing.").waitFor();
  });
});
