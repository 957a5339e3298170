import { enterToken } from "../support/browser.ts";
import { useDashboard } from "./useDashboard.ts";

export const TOKEN = "an-api-token-of-length";
export const READ_ONLY = "a-read-only-token-of-length";

/** Opens pages of a service with tokens, mappings and a rule. */
export function useSettings() {
  const { app, contexts } = useDashboard({
    config: JSON.stringify({
      server: { apiToken: TOKEN, readOnlyToken: READ_ONLY },
      hooks: {
        enabled: true,
        token: "a-hook-token-of-length",
        mappings: [
          { match: { path: "ci", when: { "payload.state": "failed" } }, sessionKey: "hook:ci:{{branch}}" },
          { id: "any", action: "wake" },
        ],
      },
      channels: { log: {} },
      notify: [{ id: "ops", on: ["job.failed"], to: { channel: "log", to: "a" } }],
    }),
  });
  const logIn = async (token: string, options = {}) => {
    const page = await contexts.open(app.url, { permissions: ["clipboard-read", "clipboard-write"], ...options });
    await enterToken(page, token);
    await page.getByText("Live", { exact: true }).waitFor();
    return page;
  };
  return { app, logIn };
}
