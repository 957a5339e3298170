import { type Answer, startApp, type TestApp } from "./app.ts";
import { openEvents } from "./eventSource.ts";
import { eventually } from "./eventually.ts";

/** Starts an app that follows the changes already, so that it does not read its records again and again. */
export async function startFollowingApp(options: Parameters<typeof startApp>[0] = {}): Promise<TestApp> {
  const app = await startApp(options);
  const { apiToken } = app.config.server;
  const headers = apiToken === undefined ? {} : { Authorization: `Bearer ${apiToken}` };
  const events = await openEvents(`${app.url}/api/events`, headers, { live: true });
  events.close();
  return app;
}

/** A request that waits. */
export interface WaitingRequest {
  readonly answer: Promise<Answer>;
}

/** Sends a request with `Prefer: wait`, and resolves once it waits. */
export async function startWait(
  app: Pick<TestApp, "call" | "waiting">,
  path: string,
  { method = "GET", body, headers = {} }: { method?: string; body?: object; headers?: Record<string, string> } = {},
): Promise<WaitingRequest> {
  const before = app.waiting();
  const answer = app.call(method, path, body, { Prefer: "wait=30", ...headers });
  await eventually(() => app.waiting() > before, "the request to wait");
  return { answer };
}

/** Ends a queued run as a worker does. */
export async function endRun({ stores }: Pick<TestApp, "stores">, runId: string, reply: string): Promise<void> {
  const lease = { token: "w", until: new Date(Date.now() + 60_000) };
  const run = await stores.runs.acquire(await stores.runs.find(runId), lease);
  if (!run) throw new Error("the run was not acquired");
  await stores.runs.end(run, { kind: "completed", reply });
}
