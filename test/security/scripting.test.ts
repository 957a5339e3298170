import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { startApp, type TestApp } from "../support/app.ts";
import { BrowserContexts } from "../support/browser.ts";
import { eventually, untilPasses } from "../support/eventually.ts";
import { answers, type ChannelServer, startChannelServer } from "../support/servers/channelServer.ts";
import { type ModelServer, says, startModelServer } from "../support/servers/modelServer.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";

const bearer = { Authorization: "Bearer a-hook-token-of-length" };

/** An element with a unique name for each place. */
const marked = (place: string) => `<b data-struck>${place}</b>`;

/** Ends an attribute, an element and a script, and starts others whose effect the tests detect. */
const hostile = (place: string) =>
  `${marked(place)}"'><img data-struck src=x onerror=alert(1)></script><script data-struck>alert(1)</script>` +
  `<svg data-struck onload=alert(1)><a data-struck href="javascript:alert(1)">[a](javascript:alert(1))</a>`;

describe("text of others on the dashboard", () => {
  const contexts = new BrowserContexts();
  let app: TestApp;
  let worker: TestWorker;
  let model: ModelServer;
  let telegram: ChannelServer;
  let runId: string;
  let page: Page;
  const dialogs: string[] = [];
  before(async () => {
    model = await startModelServer();
    telegram = await startChannelServer(answers(200, { ok: true, result: { message_id: 1, chat: { id: 7 } } }));
    app = await startApp({
      config: `{
        hooks: { enabled: true, token: "a-hook-token-of-length" },
        agents: {
          defaults: { runner: "openai", model: "small", heartbeat: { every: "1d" } },
          runners: { openai: { baseUrl: "${model.url}" } },
        },
        channels: { telegram: { apiUrl: "${telegram.url}", botToken: "1:t" } },
      }`,
    });
    worker = await startWorker(app);
    const job = `/api/jobs/${encodeURIComponent(hostile("jobId"))}`;
    const free = (place: string) => ({ [hostile(`${place}-key`)]: [hostile(place)] });
    const { status } = await app.call("PUT", job, {
      name: hostile("name"),
      description: hostile("description"),
      input: free("input"),
      metadata: free("metadata"),
      output: free("output"),
    });
    expect(status).to.equal(201);
    await app.call("PUT", `${job}/steps/${encodeURIComponent(hostile("stepKey"))}`, {
      stepName: hostile("stepName"),
      message: hostile("message"),
      progress: 10,
      output: free("step-output"),
    });
    model.script(says(hostile("reply")));
    const request = {
      name: hostile("run"),
      message: hostile("asked"),
      sessionKey: hostile("session"),
      thinking: "low",
    };
    const whom = { channel: "msteams", to: hostile("to").slice(0, 250), wakeMode: "next-heartbeat" };
    const rung = await app.call(
      "POST",
      "/hooks/agent",
      { ...request, ...whom },
      { ...bearer, "Idempotency-Key": randomUUID() },
    );
    expect(rung.status, JSON.stringify(rung.body)).to.equal(202);
    ({ runId } = rung.body);
    await app.call("POST", "/hooks/wake", { text: hostile("wake"), mode: "next-heartbeat" }, bearer);
    const read = async () => (await app.call("GET", `/api/runs/${runId}`)).body;
    await eventually(async () => (await read()).deliveries[0]?.state === "failed", "the delivery to fail");
    page = await contexts.open("about:blank");
    page.on("dialog", (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
  });
  after(async () => {
    await contexts.closeAll(); // Fails if the page's policy blocked anything.
    await worker.close();
    await app.close();
    await telegram.close();
    await model.close();
  });

  const places: [string, () => string, readonly string[]][] = [
    ["the list of jobs", () => "/", ["name", "message"]],
    [
      "a job",
      () => `/jobs/${encodeURIComponent(hostile("jobId"))}`,
      ["name", "jobId", "description", "message", "stepName", "input", "metadata", "output", "output-key"],
    ],
    [
      "a step",
      () => `/jobs/${encodeURIComponent(hostile("jobId"))}?step=${encodeURIComponent(hostile("stepKey"))}`,
      ["stepKey", "step-output"],
    ],
    ["a job that is not there", () => `/jobs/${encodeURIComponent(hostile("nobody"))}`, ["nobody"]],
    ["a search", () => `/?updatedFrom=${encodeURIComponent(hostile("sought"))}`, ["sought"]],
    ["the list of runs", () => `/runs?sessionKey=${encodeURIComponent(hostile("session"))}`, ["run", "session"]],
    ["a run", () => `/runs/${runId}`, ["run", "asked", "reply", "session", "to"]],
    ["the sessions", () => "/sessions", ["session", "wake"]],
    ["a transcript", () => `/sessions/${encodeURIComponent(hostile("session"))}`, ["asked", "reply"]],
    ["the main session", () => "/sessions/main", ["wake"]],
    ["the deliveries", () => "/deliveries", ["to"]],
  ];
  for (const [title, path, shown] of places) {
    it(`is shown as text: ${title}`, async () => {
      await page.goto(app.url + path());
      for (const place of shown) await page.getByText(marked(place)).first().waitFor();

      await untilPasses(async () =>
        expect(
          await page
            .locator("[data-struck], script:not([src], [type='application/json']), a[href^=javascript]")
            .count(),
        ).to.equal(0),
      );
      expect(dialogs).to.deep.equal([]);
    });
  }

  it("is detected by these tests when it is not shown as text", async () => {
    await page.evaluate("document.body.insertAdjacentHTML('beforeend', '<img data-struck>')");

    await untilPasses(async () => expect(await page.locator("[data-struck]").count()).to.equal(1));
  });
});
