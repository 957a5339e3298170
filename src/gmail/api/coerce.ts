/** Returns a string or a number as text; "" for any other value. */
export const asText = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : "";

/** Returns an array unchanged; [] for any other value. */
// biome-ignore lint/suspicious/noExplicitAny: elements can have any shape
export const asArray = (value: unknown): any[] => (Array.isArray(value) ? value : []);
