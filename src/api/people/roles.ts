import type { GrantConfig } from "../../config/access/grant.ts";
import type { RoleConfig } from "../../config/access/people.ts";
import { effectiveScopes } from "../../shared/access/scopes.ts";
import type { Grant } from "../auth/caller.ts";

interface RoleSettings {
  readonly roles?: readonly RoleConfig[] | undefined;
  /** The grant of whoever has none of the roles. */
  readonly everyone?: GrantConfig | undefined;
}

/**
 * Returns a function from the groups of a person to their grants: one for each role that has one of the groups.
 * @param keyOf returns the form in which the groups of people are given
 */
export function grantsOf(
  { roles = [], everyone }: RoleSettings,
  keyOf: (group: string) => string = (group) => group,
): (groups: readonly string[]) => readonly Grant[] {
  const known = roles.map((role) => ({ groups: new Set(role.groups.map(keyOf)), grant: toGrant(role) }));
  const others = everyone ? [toGrant(everyone)] : [];
  return (groups) => {
    const matching = known.filter((role) => groups.some((group) => role.groups.has(group)));
    return matching.length > 0 ? matching.map(({ grant }) => grant) : others;
  };
}

const toGrant = ({ scopes, jobs }: GrantConfig): Grant => ({ scopes: effectiveScopes(scopes), jobs });
