/** Minimum length of a value that is masked. Shorter ones are no secrets, but parts of words. */
const MIN_SECRET_LENGTH = 8;

/** Returns a text for readers in which each of the values is replaced by "…". */
export const maskSecrets = (text: string, values: readonly string[]): string =>
  values
    .filter((value) => value.length >= MIN_SECRET_LENGTH)
    .reduce((masked, secret) => masked.replaceAll(secret, "…"), text);
