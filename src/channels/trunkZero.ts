/**
 * Returns whether a number has a zero in brackets, the trunk prefix. Most countries drop it in calls from abroad and some keep
 * it, so that the number is ambiguous.
 */
export const hasTrunkZero = (number: string): boolean => /\(\s*0\s*\)/.test(number);

export const WITH_TRUNK_ZERO = {
  kind: "gone",
  reason:
    "The number contains (0): write it as it is dialled from abroad, in most countries without the zero, such as +49 151 00000000.",
} as const;
