import leven from "leven";

/** Maximum length of a name that is compared. A longer one is not mistyped, and the comparison would take long. */
const MAX_LENGTH = 64;

/** Returns the known name that is most similar to a mistyped one; undefined when there is none or the name is too long. */
export function nearest(unknown: string, known: readonly string[]): string | undefined {
  if (unknown === "" || unknown.length > MAX_LENGTH) return undefined;
  const distance = (name: string) => leven(name.toLowerCase(), unknown.toLowerCase());
  return [...known].sort((a, b) => distance(a) - distance(b))[0];
}
