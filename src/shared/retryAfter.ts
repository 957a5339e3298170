/** Milliseconds that a `Retry-After` in seconds or as a date asks for; null where there is none that can be read. */
export function retryAfterMs(headers: Headers, now = Date.now()): number | null {
  const value = headers.get("Retry-After")?.trim();
  if (!value) return null;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1_000;
  const at = /^[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
