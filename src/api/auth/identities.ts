import type { Context } from "koa";
import type { OidcConfig, UserHeaderConfig } from "../../config/access/people.ts";
import { childPrefix } from "../../models/jobs/jobScope.ts";
import type { JobTokenClaims, JobTokenScope, JobTokens } from "../../models/jobs/tokens/jobTokens.ts";
import type { Clock } from "../../shared/clock.ts";
import { Sessions } from "../people/session.ts";
import { headerPerson } from "../people/userHeader.ts";
import type { EndingIdentity, Grant, Identity } from "./caller.ts";
import { jobTokenIn, verifyCookie } from "./loginCookie.ts";
import type { TokenTable } from "./tokenTable.ts";

/** What the token of a job, or of a run, may do to that job. */
const OWN_SCOPES: Readonly<Record<JobTokenScope, ReadonlySet<string>>> = {
  read: new Set(["jobs:read"]),
  report: new Set(["jobs:read", "jobs:report"]),
  run: new Set(["jobs:read", "jobs:report"]),
};
/** What the token of a run may do to the jobs that the run starts. */
const CHILD_SCOPES: ReadonlySet<string> = new Set(["jobs:read", "jobs:report", "jobs:create"]);

interface IdentitiesDeps {
  readonly table: TokenTable;
  readonly jobTokens: JobTokens;
  readonly clock: Clock;
}

interface PeopleSettings {
  readonly oidc?: OidcConfig | undefined;
  readonly userHeader?: UserHeaderConfig | undefined;
}

/**
 * The one source of who somebody is, and what they may do: by a configured token, the token of a job, a cookie for one of these,
 * the session of a person, or the header of a trusted proxy.
 */
export class Identities {
  readonly #deps: IdentitiesDeps;
  readonly #sessions: Sessions | undefined;
  /** Returns the person whom a trusted proxy names in a request. */
  readonly ofProxy: (ctx: Context) => Identity | null;

  constructor({ oidc, userHeader }: PeopleSettings, deps: IdentitiesDeps) {
    this.#deps = deps;
    this.#sessions = oidc && new Sessions(oidc, deps.jobTokens.seals, deps.clock);
    this.ofProxy = userHeader ? headerPerson(userHeader) : () => null;
  }

  /** Returns who a token stands for; null for another text. @throws AppError unavailable */
  async ofToken(token: string): Promise<Identity | null> {
    const { table, jobTokens, clock } = this.#deps;
    const claims = await jobTokens.open(token);
    return claims ? ofJobToken(claims) : (table.find(token, clock.now())?.identity ?? null);
  }

  /**
   * Returns who a cookie of this service stands for, whether it has expired or not; null for another cookie.
   * @throws AppError unavailable
   */
  async ofCookie(cookie: string): Promise<EndingIdentity | null> {
    const person = await this.#sessions?.open(cookie);
    if (person) return person;
    const jobToken = jobTokenIn(cookie);
    const identity = jobToken === undefined ? verifyCookie(this.#deps.table, cookie) : await this.ofToken(jobToken);
    const { actor, expiresAt } = identity ?? {};
    return identity && expiresAt ? { ...identity, actor: `cookie:${actor}`, expiresAt } : null;
  }
}

function ofJobToken({ jobId, internalId, scope, expiresAt }: JobTokenClaims): Identity {
  const own = { jobId, internalId };
  const grants: Grant[] = [{ scopes: OWN_SCOPES[scope], jobs: own }];
  if (scope !== "run") return { actor: `job-token:${jobId}`, grants, expiresAt };
  grants.push({ scopes: CHILD_SCOPES, jobs: { idPrefix: childPrefix(own) } });
  return { actor: `job-token:${jobId}`, grants, expiresAt, run: own };
}
