import { Store } from "./data/store.ts";

/** Smaller differences are of the way and of the seconds that an answer counts in. */
const TOLERANCE_MS = 2_000;

/** How far the service's clock is ahead of the browser's, which may be wrong by hours: ages and silence are told by its own. */
let serverOffsetMs = 0;

const present = (): number => Date.now() + serverOffsetMs;

/** The present by the service's clock, moved on once a second while the page is looked at. */
export const now = new Store(present());

/** Takes the time that an answer was sent at, its header `Date`. */
export function setServerTime(date: string | null): void {
  const offset = Date.parse(date ?? "") - Date.now();
  if (Number.isNaN(offset) || Math.abs(offset - serverOffsetMs) <= TOLERANCE_MS) return;
  serverOffsetMs = Math.abs(offset) <= TOLERANCE_MS ? 0 : offset;
  now.set(present());
}

export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.set(present());
  }, 1_000);
  document.addEventListener("visibilitychange", () => now.set(present()));
}
