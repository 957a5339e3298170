import type { Page } from "playwright-core";
import { enterToken } from "../support/browser.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";
import { useDashboard } from "./useDashboard.ts";

export const API_TOKEN = "an-api-token-of-length";
export const HOOKS_TOKEN = "a-hook-token-of-length";
export const HOOKS_ONLY = "a-token-for-hooks-and-runs";
export const READ_ONLY = "a-read-only-token-of-length";

const config = JSON.stringify({
  server: {
    apiToken: API_TOKEN,
    readOnlyToken: READ_ONLY,
    tokens: [{ name: "hooks", token: HOOKS_ONLY, scopes: ["jobs:read", "runs:read", "hooks:agent"] }],
  },
  hooks: { enabled: true, token: HOOKS_TOKEN, path: "/in" },
});

/** Starts a service without records and its worker before each test of the current suite. `logIn` opens its first page. */
export function useOnboarding() {
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
  return { app, logIn };
}
