import { useDashboard } from "./useDashboard.ts";

const HOOK_TOKEN = "a-hook-token-of-length";
export const bearer = { Authorization: `Bearer ${HOOK_TOKEN}` };

/** Opens pages of a service with a run of a mapping and a cancelled one. */
export function useRunList() {
  const { app, openLive } = useDashboard({
    config: JSON.stringify({
      hooks: { enabled: true, token: HOOK_TOKEN, mappings: [{ match: { path: "ci" }, sessionKey: "hook:ci" }] },
    }),
  });
  beforeEach(async () => {
    await app.call("POST", "/hooks/ci", { build: 1 }, bearer);
    const { body } = await app.call("POST", "/hooks/agent", { message: "a", name: "Direct" }, bearer);
    await app.call("POST", `/api/runs/${body.runId}/cancel`);
  });
  return { app, openLive };
}
