import leven from "leven";

/** The known name that a mistyped one is most like; undefined when none is known. */
export function nearest(unknown: string, known: readonly string[]): string | undefined {
  const distance = (name: string) => leven(name.toLowerCase(), unknown.toLowerCase());
  return [...known].sort((a, b) => distance(a) - distance(b))[0];
}
