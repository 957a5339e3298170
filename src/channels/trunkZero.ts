/** Whether a number has the zero in it that is dialled within the country only; with it the number is somebody else's. */
export const hasTrunkZero = (number: string): boolean => /\(\s*0\s*\)/.test(number);

export const WITH_TRUNK_ZERO = {
  kind: "gone",
  reason: "The number has (0) in it, which is not dialled from abroad: leave it out, such as +49 151 00000000.",
} as const;
