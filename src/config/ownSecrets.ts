import { CONFIG_JSON, GENERATED_HOOKS_TOKEN } from "./load.ts";
import { configKeys } from "./schema/config.ts";

const NAMES: readonly string[] = [
  GENERATED_HOOKS_TOKEN,
  CONFIG_JSON,
  ...configKeys().flatMap(([, { env, secret }]) => (env && secret ? [env] : [])),
];

/** Returns an environment without the secrets of the service itself, for programs that do not need them. */
export const withoutOwnSecrets = <E extends Readonly<Record<string, string | undefined>>>(env: E): E =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !NAMES.includes(name))) as E;
