import packageJson from "../../../package.json" with { type: "json" };

/** The version of this release. */
export const version: string = packageJson.version;

/** The first version that its makers still maintain (https://www.mongodb.com/legal/support-policy/lifecycles). */
export const FIRST_MAINTAINED = 7;

/** Returns what is wrong with a version of MongoDB, and what to do; undefined when it is maintained. */
export function endOfLife(version: string): string | undefined {
  if (Number.parseInt(version, 10) >= FIRST_MAINTAINED) return undefined;
  return `MongoDB ${version} is past its end of life and gets no security updates: use ${FIRST_MAINTAINED}.0 or later`;
}
