import { DURATION_PATTERN, durationMs } from "./duration.ts";

/** The value of `hooks.keepRequests`. */
export type KeepRequests = string | { readonly for: string; readonly maxBytes?: string };

const UNIT_BYTES = { KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 } as const;
const SIZE = /^([1-9][0-9]{0,6})(KiB|MiB|GiB|TiB)$/;

/** Returns the limits of kept requests. The value must have no `keepRequestsFault`. */
export function keepLimits(value: KeepRequests): { readonly ms: number; readonly maxBytes: number | undefined } {
  if (typeof value === "string") return { ms: durationMs(value), maxBytes: undefined };
  const [, count, unit] = SIZE.exec(value.maxBytes ?? "") ?? [];
  const maxBytes = unit === undefined ? undefined : Number(count) * UNIT_BYTES[unit as keyof typeof UNIT_BYTES];
  return { ms: durationMs(value.for), maxBytes };
}

/** Returns what is wrong with the value, beginning with the faulty key below it; null if it is usable. */
export function keepRequestsFault(value: KeepRequests): string | null {
  if (typeof value === "string") return null;
  const unknown = Object.keys(value).find((key) => key !== "for" && key !== "maxBytes");
  if (unknown !== undefined) return `.${unknown} is not a known key; the keys are for and maxBytes`;
  if (!new RegExp(DURATION_PATTERN).test(value.for)) return ".for must look like 7d";
  return value.maxBytes === undefined || SIZE.test(value.maxBytes) ? null : ".maxBytes must look like 1GiB or 500MiB";
}
