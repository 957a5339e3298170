import { Store } from "./data/store.ts";

/** Differences up to this value come from network delay and from the header's resolution of one second. */
const TOLERANCE_MS = 2_000;

/** Difference of the service's clock to the browser's, which may be wrong by hours. Ages use the service's clock. */
let serverOffsetMs = 0;

const present = (): number => Date.now() + serverOffsetMs;

/**
 * The current time of the service's clock, in milliseconds since the epoch; updated every second while the page is
 * visible.
 */
export const now = new Store(present());

/** Adjusts the clock to a response's `Date` header. */
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
