import leven from "leven";

/** Maximum length of a name that is compared. A longer one is not mistyped, and the comparison would take long. */
const MAX_LENGTH = 64;

/** Maximum changed letters of a mistyped name. A shorter name may have half of its letters changed: `prot` for `port`. */
const MAX_CHANGES = 3;

/** Minimum letters of a name that is a known one without its beginning or end: `timeout` for `timeoutSeconds`. */
const MIN_PART_LENGTH = 4;

/** Returns the known name that is most similar to a mistyped one; undefined when none is near or the name is too long. */
export function nearest(unknown: string, known: readonly string[]): string | undefined {
  if (unknown === "" || unknown.length > MAX_LENGTH) return undefined;
  const mistyped = unknown.toLowerCase();
  const maxChanges = Math.min(MAX_CHANGES, Math.floor(mistyped.length / 2));
  const isPart = (name: string) =>
    mistyped.length >= MIN_PART_LENGTH && (name.startsWith(mistyped) || name.endsWith(mistyped));
  const near = known.flatMap((name) => {
    const changes = leven(name.toLowerCase(), mistyped);
    return changes <= maxChanges || isPart(name.toLowerCase()) ? [{ name, changes }] : [];
  });
  return near.sort((a, b) => a.changes - b.changes)[0]?.name;
}
