import { createClient } from "../../src/client/client.ts";
import { eventually } from "../support/eventually.ts";
import { lateApp } from "../support/useApp.ts";
import { startFollowingApp } from "../support/waiting.ts";

/** Starts a service that waiting requests follow. */
export function useWaits() {
  const [app, set] = lateApp();
  before(async () => set(await startFollowingApp()));
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
  return { app, recording, isWaiting };
}
