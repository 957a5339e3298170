import { Store } from "./store.ts";

/** The present, moved on once a second while the page is looked at. */
export const now = new Store(Date.now());

export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.set(Date.now());
  }, 1_000);
  document.addEventListener("visibilitychange", () => now.set(Date.now()));
}
