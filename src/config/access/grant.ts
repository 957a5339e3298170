import Type from "typebox";
import { SCOPE_PATTERN, SCOPES } from "../../shared/access/scopes.ts";
import { nearest } from "../../shared/text/nearest.ts";
import { BUILT_IN_HOOKS } from "../mappings/mapping.ts";
import { text } from "../nodes.ts";

/** The keys of a grant: what a token or a role allows. */
export const grantKeys = {
  scopes: Type.Array(Type.String(), {
    minItems: 1,
    uniqueItems: true,
    examples: [["jobs:read", "jobs:create"]],
    description:
      "The scopes: `jobs:read`, `jobs:report`, `jobs:create`, `jobs:write`, `gates:answer`, `runs:read`, `runs:write`, `hooks:agent`, `hooks:wake`, `hooks:NAME` for a mapped hook, and `admin` for everything.",
  }),
  jobs: Type.Optional(
    Type.Object(
      {
        idPrefix: text({
          maxLength: 200,
          examples: ["ci/"],
          description: "Beginning of the ids of the jobs to which the scopes for jobs apply.",
        }),
      },
      { additionalProperties: false, description: "Limits the scopes for jobs to some of the jobs." },
    ),
  ),
};

/** A grant as it is configured. */
export interface GrantConfig {
  readonly scopes: readonly string[];
  readonly jobs?: { readonly idPrefix: string };
}

/** The names of the hooks that scopes may name. */
export interface ScopedHooks {
  readonly hooks: { readonly mappings: readonly { readonly match?: { readonly path?: string } }[] };
}

/** Returns the end of a sentence for each fault in a grant; it begins with the key. */
export function grantFaults({ scopes, jobs }: GrantConfig, { hooks }: ScopedHooks): readonly (string | false)[] {
  const hookScopes = scopes.filter((scope) => scope.startsWith("hooks:")).map((scope) => scope.slice(6));
  const known = [...BUILT_IN_HOOKS, ...hooks.mappings.flatMap(({ match }) => match?.path ?? [])];
  return [
    ...scopes.map((scope, k) => !IS_SCOPE.test(scope) && `scopes.${k} ${noScope(scope)}`),
    ...hookScopes.map(
      (hook) =>
        !known.includes(hook) &&
        `scopes has hooks:${hook}, and there is no such hook: use agent, wake, or the match.path of a mapping`,
    ),
    jobs !== undefined &&
      !scopes.some((scope) => /^(jobs:|gates:|admin$)/.test(scope)) &&
      "jobs has no effect without a scope for jobs: remove it, or add one such as jobs:read",
    jobs !== undefined &&
      scopes.includes("admin") &&
      "jobs has no effect with the scope admin, which allows everything: remove one of the two",
  ];
}

const IS_SCOPE = new RegExp(SCOPE_PATTERN);

function noScope(scope: string): string {
  const meant = nearest(scope, SCOPES);
  return meant ? `is no scope; did you mean ${meant}?` : `is no scope: use hooks:NAME or one of ${SCOPES.join(", ")}`;
}
