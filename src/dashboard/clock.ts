import { signal } from "@preact/signals";

/** Differences up to this value come from network delay and from the header's resolution of one second. */
const TOLERANCE_MS = 2_000;

/** Difference of the service's clock to the browser's, which may be wrong by hours. Ages use the service's clock. */
let serverOffsetMs = 0;

const present = (): number => Date.now() + serverOffsetMs;

/**
 * The current time of the service's clock, in milliseconds since the epoch; updated every second while the page is
 * visible.
 */
export const now = signal(present());

/** Adjusts the clock to a response's `Date` header. */
export function setServerTime(date: string | null): void {
  const offset = Date.parse(date ?? "") - Date.now();
  if (Number.isNaN(offset) || Math.abs(offset - serverOffsetMs) <= TOLERANCE_MS) return;
  serverOffsetMs = Math.abs(offset) <= TOLERANCE_MS ? 0 : offset;
  now.value = present();
}

export function startClock(): void {
  const tick = () => {
    now.value = present();
  };
  setInterval(() => document.hidden || tick(), 1_000);
  document.addEventListener("visibilitychange", tick);
}
