import { expect } from "chai";
import type { Page } from "playwright-core";
import { enterToken } from "../support/browser.ts";
import { untilPasses } from "../support/eventually.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";
import { useDashboard } from "./useDashboard.ts";

const API_TOKEN = "an-api-token-of-length";
const HOOKS_TOKEN = "a-hook-token-of-length";
const HOOKS_ONLY = "a-token-for-hooks-and-runs";
const READ_ONLY = "a-read-only-token-of-length";

const config = JSON.stringify({
  server: {
    apiToken: API_TOKEN,
    readOnlyToken: READ_ONLY,
    tokens: [{ name: "hooks", token: HOOKS_ONLY, scopes: ["jobs:read", "runs:read", "hooks:agent"] }],
  },
  hooks: { enabled: true, token: HOOKS_TOKEN, path: "/in" },
});

describe("dashboard onboarding", () => {
  const { app, contexts } = useDashboard({ config });
  let worker: TestWorker;
  beforeEach(async () => {
    worker = await startWorker(app);
  });
  afterEach(() => worker.close());
  const logIn = async (token = API_TOKEN, options = {}): Promise<Page> => {
    const page = await contexts.open(app.url, { permissions: ["clipboard-read", "clipboard-write"], ...options });
    await enterToken(page, token);
    await page.getByText("Live", { exact: true }).waitFor();
    return page;
  };

  it("sends a test hook by keyboard, and leads to its run", async () => {
    const page = await logIn(HOOKS_ONLY);
    await page.getByRole("button", { name: "Send a test hook" }).focus();
    await page.keyboard.press("Enter");

    await page.getByRole("heading", { level: 1, name: "Test hook" }).waitFor();
    await page.getByText("This is a test of the agent hook").first().waitFor();
    await page.getByText("Completed").first().waitFor();
  });
});

describe("dashboard onboarding without hooks and tokens", () => {
  const { app, openLive } = useDashboard({ basePath: "/box" });

  it("needs no token, contains the base path, and says that hooks are off", async () => {
    const page = await openLive();
    await page.getByRole("heading", { name: "No jobs yet" }).waitFor();

    await untilPasses(async () => {
      const commands = await page.getByRole("listitem").allTextContents();
      expect(commands.join("\n")).to.include(`export SIGNALBOX_URL="${app.url}"`).and.not.include("Authorization");
    });
    await untilPasses(async () =>
      expect(await page.getByRole("button", { name: "Send a test hook" }).count()).to.equal(0),
    );
    await page.goto(`${app.url}/runs`);
    await page.getByText("Hooks are off").waitFor();
    expect((await app.call("POST", "/api/hooks/test")).status).to.equal(404);
  });
});
