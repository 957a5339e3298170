import type { Page } from "playwright-core";
import { startWorker, type TestWorker } from "../support/worker.ts";
import { useDashboard } from "./useDashboard.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** Opens the page on a service with rules, an expectation and a worker. */
export function useRules() {
  let worker: TestWorker;
  const { app, openLive } = useDashboard({
    config: JSON.stringify({
      channels: { log: {} },
      notify: [
        { id: "ops", on: ["job.failed"], to: { channel: "log", to: "night watch" }, after: 2, cooldown: "1h" },
        {
          id: "ci",
          on: ["job.completed", "job.stale"],
          where: { name: "Nightly" },
          to: { webhook: { url: "https://ci.example.com/hidden", secret: SECRET } },
        },
        { id: "agent", on: ["job.failed"], to: { wake: "next-heartbeat" } },
      ],
      expect: [{ id: "backup", name: "Nightly backup", every: "1d", grace: "2h" }],
    }),
  });
  beforeEach(async () => {
    worker = await startWorker(app);
  });
  afterEach(() => worker.close());

  const cardOf = (page: Page, rule: string) => page.getByRole("listitem", { name: rule, exact: true });
  return { app, openLive, cardOf };
}
