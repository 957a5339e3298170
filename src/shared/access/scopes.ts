/** The scopes of tokens, besides `hooks:NAME` for each hook. */
export const SCOPES = [
  "jobs:read",
  "jobs:report",
  "jobs:create",
  "jobs:write",
  "gates:answer",
  "runs:read",
  "runs:write",
  "hooks:agent",
  "hooks:wake",
  "admin",
] as const;

/** The permission that a route needs. */
export type Scope = (typeof SCOPES)[number] | `hooks:${string}`;

/** The pattern of a scope. The name of a hook may have several parts. */
export const SCOPE_PATTERN = "^(jobs:(read|report|create|write)|gates:answer|runs:(read|write)|hooks:[^\\s]+|admin)$";

/** The scopes that another one includes. */
const INCLUDED: Readonly<Record<string, readonly Scope[]>> = {
  "jobs:create": ["jobs:report"],
  "jobs:write": ["jobs:create", "jobs:report"],
};

/** Returns all scopes that a token with the given ones has. */
export const effectiveScopes = (given: readonly string[]): ReadonlySet<string> =>
  new Set(given.flatMap((scope) => [scope, ...(INCLUDED[scope] ?? [])]));

/** Returns whether scopes allow what needs any of `needed`. */
export const allows = (scopes: ReadonlySet<string>, needed: readonly Scope[]): boolean =>
  scopes.has("admin") || needed.some((scope) => scopes.has(scope));

/** The pattern of the name of a token. */
export const TOKEN_NAME_PATTERN = "^[a-z0-9-]{1,64}$";

/** The pattern of the expiry of a token: a date, or a time with its offset. */
export const EXPIRY_PATTERN = "^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?(Z|[+-]\\d{2}:\\d{2}))?$";
