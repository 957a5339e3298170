/** What was sent as text or as a number; "" for anything else. */
export const asText = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : "";

// biome-ignore lint/suspicious/noExplicitAny: elements have any shape
export const asArray = (value: unknown): any[] => (Array.isArray(value) ? value : []);
