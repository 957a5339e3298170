import { createClient } from "../../src/client/client.ts";
import type { TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { startFollowingApp } from "../support/waiting.ts";

/** Starts a service that waiting requests follow. @param onStart receives the service */
export function useWaits(onStart: (app: TestApp) => void) {
  let app: TestApp;
  before(async () => {
    app = await startFollowingApp();
    onStart(app);
  });
  after(() => app.close());

  /** Returns a client and the requests that it sends, each with its header `Prefer`. */
  const recording = (url = app.url, more: Partial<Parameters<typeof createClient>[0]> = {}) => {
    const requests: (string | null)[] = [];
    const fetch: typeof globalThis.fetch = (address, init) => {
      requests.push(new Headers(init?.headers).get("Prefer"));
      return globalThis.fetch(address, init);
    };
    return { client: createClient({ url, fetch, ...more }), requests };
  };
  const isWaiting = (count = 1) => eventually(() => app.waiting() === count, "the request to wait");
  return { recording, isWaiting };
}
