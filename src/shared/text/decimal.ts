/**
 * Returns the number that a text holds in decimal digits with an optional sign, and with a fraction if `type` is number. Returns
 * undefined for any other text: `Number` would read a blank as 0 and `0x10` as 16.
 */
export function decimalOf(text: string, type: "integer" | "number"): number | undefined {
  const isDecimal = type === "integer" ? /^[+-]?\d+$/.test(text) : /^[+-]?(\d+|\d*\.\d+)$/.test(text);
  const number = isDecimal ? Number(text) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}
