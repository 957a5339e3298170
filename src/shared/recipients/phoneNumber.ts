/**
 * Returns whether a number has a zero in brackets, the trunk prefix. Most countries drop it in calls from abroad and some keep
 * it, so that the number is ambiguous.
 */
export const hasTrunkZero = (number: string): boolean => /\(\s*0\s*\)/.test(number);

/**
 * Returns the digits of a number with its country code, without the decoration that people write; undefined for another text.
 */
export function readPhoneNumber(text: string): string | undefined {
  const digits = text.replace(/[+\s()-]/g, "");
  return !hasTrunkZero(text) && /^[1-9]\d{4,14}$/.test(digits) ? digits : undefined;
}
