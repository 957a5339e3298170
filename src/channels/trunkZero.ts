/** The result for a number that is ambiguous because of a zero in brackets. */
export const WITH_TRUNK_ZERO = {
  kind: "gone",
  reason:
    "The number contains (0): write it as it is dialled from abroad, in most countries without the zero, such as +49 151 00000000.",
} as const;
