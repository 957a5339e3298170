/** Functions of the commands that report: `run`, `jobs put` and `jobs report`. */

/** Returns the metadata of options such as `--metadata host=db1`. The first value of a key counts. */
export const metadataOf = (pairs: Readonly<Record<string, readonly string[]>>): Record<string, string | undefined> =>
  Object.fromEntries(Object.entries(pairs).map(([key, [value]]) => [key, value]));

/** Returns a function that prints each text only once. */
export function onceEach(print: (text: string) => void): (text: string) => void {
  const printed = new Set<string>();
  return (text) => {
    if (!printed.has(text)) print(text);
    printed.add(text);
  };
}
