import leven from "leven";

/** What is longer is no mistyped name, and to compare it takes as long as it is. */
const LONGEST = 64;

/** The known name that a mistyped one is most like; undefined when none is known, or where it is no name at all. */
export function nearest(unknown: string, known: readonly string[]): string | undefined {
  if (unknown === "" || unknown.length > LONGEST) return undefined;
  const distance = (name: string) => leven(name.toLowerCase(), unknown.toLowerCase());
  return [...known].sort((a, b) => distance(a) - distance(b))[0];
}
