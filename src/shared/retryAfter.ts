/** Returns the milliseconds that a `Retry-After` header asks for, in seconds or as a date; null without a valid one. */
export function retryAfterMs(headers: Headers, now = Date.now()): number | null {
  const value = headers.get("Retry-After")?.trim();
  if (!value) return null;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1_000;
  const at = /^[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
