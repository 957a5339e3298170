import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";
import { Readers } from "../support/browser.ts";
import { createJob } from "../support/factories.ts";

const TOKEN = "an-api-token-of-length";
const READ_ONLY = "a-read-only-token-of-length";

describe("the dashboard's log-in", function () {
  this.timeout(60_000);
  let app: TestApp;
  const readers = new Readers();
  beforeEach(async () => {
    const config = "{ channels: { log: {} } }";
    app = await startApp({ apiToken: TOKEN, readOnlyToken: READ_ONLY, config });
    const auth = { Authorization: `Bearer ${TOKEN}` };
    await app.call("PUT", "/api/jobs/behind-the-door", { name: "Behind the door" }, auth);
  });
  afterEach(async () => {
    await readers.leave();
    await app.close();
  });

  it("asks for the token, refuses another one, and leads to where the reader wanted to go", async () => {
    const page = await readers.open(`${app.url}/jobs/behind-the-door`);
    await page.getByLabel("API token").fill("another-token-of-length");
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("alert").getByText("not the token").waitFor();
    expect(await page.getByText("Behind the door").count()).to.equal(0);

    await page.getByLabel("API token").fill(TOKEN);
    await page.keyboard.press("Enter");

    await page.getByRole("heading", { name: "Behind the door" }).waitFor();
    expect(new URL(page.url()).pathname).to.equal("/jobs/behind-the-door");
    await page.getByText("Live", { exact: true }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Behind the door" }).waitFor();
    const cookies = await page.context().cookies();
    expect(cookies.map(({ httpOnly, sameSite }) => [httpOnly, sameSite])).to.deep.equal([[true, "Strict"]]);
  });

  it("takes a full token for all, and ends with the log-out", async () => {
    const page = await readers.open(app.url);
    await page.getByLabel("API token").fill(TOKEN);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Behind the door" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No jobs yet").waitFor();

    await page.getByRole("button", { name: "Log out" }).click();

    await page.getByLabel("API token").waitFor();
    expect(await page.context().cookies()).to.deep.equal([]);
  });

  it("shows everything to a read-only token, and nothing that changes something", async () => {
    const page = await readers.open(`${app.url}/jobs/behind-the-door`);
    await page.getByLabel("API token").fill(READ_ONLY);
    await page.keyboard.press("Enter");

    await page.getByRole("heading", { name: "Behind the door" }).waitFor();
    await page.getByText("Read-only").waitFor();
    expect(await page.getByRole("button", { name: "Delete" }).count()).to.equal(0);
    expect(await page.getByRole("button", { name: "Copy JSON" }).count()).to.equal(1);
  });

  it("leaves the head in one piece at any width, with all that it shows to a read-only token", async () => {
    const page = await readers.open(app.url);
    await page.getByLabel("API token").fill(READ_ONLY);
    await page.keyboard.press("Enter");
    await page.getByText("Live", { exact: true }).waitFor();

    for (const width of [320, 360, 768, 800, 961, 1440]) {
      await page.setViewportSize({ width, height: 600 });
      const [end, nav, head] = await page.evaluate<number[]>(
        `[".top-end", ".top nav", ".top"].map((part) => document.querySelector(part).getBoundingClientRect().bottom)`,
      );
      const [links, room] = await page.evaluate<number[]>(
        `(({ scrollWidth, clientWidth }) => [scrollWidth, clientWidth])(document.querySelector(".top nav"))`,
      );

      expect(Math.max(end as number, nav as number), `at ${width}`).to.be.at.most(head as number);
      if (width >= 768) expect(links, `the links at ${width}`).to.be.at.most(room as number);
    }
  });

  it("offers a read-only token nothing to do on runs and deliveries either", async () => {
    const { runs, deliveries } = app.stores;
    const run = { kind: "wake" as const, sessionKey: "main", singleUse: false, mapped: null, request: null };
    await runs.accept([
      { ...run, _id: "run-1", name: "Failed run" },
      { ...run, _id: "run-2", name: "Waiting run" },
    ]);
    await runs.cancel("run-1");
    await deliveries.add({
      ...{ _id: "d", runId: "run-1", channel: "log", to: "x", text: "x", fault: "It was too late." },
    });
    const acts = /^(Retry|Cancel)$/;
    const reader = await readers.open(`${app.url}/runs/run-1`);
    const owner = await readers.open(`${app.url}/runs/run-1`);
    for (const [page, token, count] of [
      [owner, TOKEN, 1],
      [reader, READ_ONLY, 0],
    ] as const) {
      await page.getByLabel("API token").fill(token);
      await page.keyboard.press("Enter");
      await page.waitForURL("**/runs/run-1"); // else the next address would break the log-in off
      for (const [path, words] of [
        ["/runs/run-1", "It was too late."],
        ["/runs/run-2", "Waiting run"],
        ["/deliveries", "It was too late."],
      ] as const) {
        await page.goto(app.url + path);
        await page.getByText(words).first().waitFor();
        const offered = await page.getByRole("button", { name: acts }).count();
        expect(Math.min(1, offered), `${path} with ${token}`).to.equal(count);
      }
    }
  });

  it("comes back when the log-in has ended meanwhile, and leads on from there", async () => {
    const page = await readers.open(`${app.url}/runs`);
    await page.getByLabel("API token").fill(TOKEN);
    await page.keyboard.press("Enter");
    await page.getByText("No runs yet").waitFor();

    await page.context().clearCookies();
    await page.getByRole("link", { name: "Deliveries" }).click();
    await page.getByLabel("API token").fill(TOKEN);
    await page.keyboard.press("Enter");

    await page.getByText("No deliveries yet").waitFor();
  });

  it("comes by itself to who only looks on when the log-in has ended: what is read again ends in it", async () => {
    const page = await readers.open("about:blank");
    await page.clock.install();
    await page.goto(`${app.url}/sessions`);
    await page.getByLabel("API token").fill(TOKEN);
    await page.keyboard.press("Enter");
    await page.getByText("Nothing waits").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();

    await page.context().clearCookies();
    await page.clock.fastForward(5_000); // as often as it reads again

    await page.getByLabel("API token").waitFor();
  });

  it("holds for all pages of a browser, and so does the log-out", async () => {
    const page = await readers.open(`${app.url}/jobs/behind-the-door`);
    const other = await page.context().newPage();
    await other.goto(app.url);
    await other.getByLabel("API token").waitFor();
    await page.getByLabel("API token").fill(TOKEN);
    await page.keyboard.press("Enter");
    await other.getByText("Behind the door").waitFor();

    await other.getByRole("button", { name: "Log out" }).click();

    await page.getByLabel("API token").waitFor();
    expect(await page.getByText("Behind the door").count()).to.equal(0);
  });

  it("comes to who wants to change something when the log-in has ended", async () => {
    const page = await readers.open(`${app.url}/jobs/behind-the-door`);
    await page.getByLabel("API token").fill(TOKEN);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Delete" }).click();
    await page.context().clearCookies();

    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();

    await page.getByLabel("API token").waitFor();
    await page.getByText("You are not logged in").waitFor();
  });

  it("says so when the log-out could not be carried out", async () => {
    const page = await readers.open(app.url);
    await page.getByLabel("API token").fill(TOKEN);
    await page.keyboard.press("Enter");
    await page.getByText("Behind the door").waitFor();
    await page.context().setOffline(true);

    await page.getByRole("button", { name: "Log out" }).click();

    await page.getByRole("status").getByText("The service cannot be reached").waitFor();
    await page.getByText("Behind the door").waitFor();
  });

  it("leads on to the operators' queues, which are a page of their own", async () => {
    const page = await readers.open(`${app.url}/queues`);
    // the board itself asks for fonts that its policy refuses, which no page here may do
    await page.route("**/queues", (route) => route.fulfill({ contentType: "text/html", body: "<h1>The board</h1>" }));
    await page.getByLabel("API token").fill(TOKEN);
    await page.keyboard.press("Enter");

    await page.getByRole("heading", { name: "The board" }).waitFor();
    expect(page.url()).to.equal(`${app.url}/queues`);
  });

  for (const to of [
    "//example.com/",
    "/\t/example.com/",
    "\\\\example.com",
    "https://example.com/",
    "javascript:alert(1)",
  ]) {
    it(`leads nowhere but into this service, for ${JSON.stringify(to)} too`, async () => {
      const page = await readers.open(`${app.url}/login?to=${encodeURIComponent(to)}`);
      await page.getByLabel("API token").fill(TOKEN);
      await page.keyboard.press("Enter");

      await page.getByText("Behind the door").waitFor();
      expect(page.url()).to.equal(`${app.url}/`);
    });
  }

  it("is not asked for where no token is set", async () => {
    const open = await startApp();
    try {
      await createJob(open, { name: "Open to all" });
      const page = await readers.open(`${open.url}/login`);

      await page.getByText("Open to all").waitFor();
      expect(await page.getByRole("button", { name: "Log out" }).count()).to.equal(0);
    } finally {
      await readers.leave();
      await open.close();
    }
  });
});
