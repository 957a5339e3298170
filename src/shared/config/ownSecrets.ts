import { GENERATED_HOOKS_TOKEN } from "./load.ts";
import { configKeys } from "./schema/config.ts";

const NAMES: readonly string[] = [
  GENERATED_HOOKS_TOKEN,
  ...configKeys().flatMap(([, { env, secret }]) => (env && secret ? [env] : [])),
];

/** An environment without what the service itself is told in secret, for programs that have no need to know it. */
export const withoutOwnSecrets = <E extends Readonly<Record<string, string | undefined>>>(env: E): E =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !NAMES.includes(name))) as E;
