import type { Context } from "koa";
import type { OidcConfig, UserHeaderConfig } from "../../config/access/people.ts";
import type { EndedLogins } from "../../models/endedLogin.ts";
import { childPrefix } from "../../models/jobs/jobScope.ts";
import type { JobTokenClaims, JobTokenScope, JobTokens } from "../../models/jobs/tokens/jobTokens.ts";
import type { Clock } from "../../shared/clock.ts";
import { Sessions } from "../people/session.ts";
import { headerPerson } from "../people/userHeader.ts";
import type { EndingIdentity, Grant, Identity } from "./caller.ts";
import { jobTokenIn, verifyCookie } from "./loginCookie.ts";
import { type TokenSettings, TokenTable } from "./tokenTable.ts";

/** The rights that the token of a job, or of a run, has over that job. */
const OWN_SCOPES: Readonly<Record<JobTokenScope, ReadonlySet<string>>> = {
  read: new Set(["jobs:read"]),
  report: new Set(["jobs:read", "jobs:report"]),
  run: new Set(["jobs:read", "jobs:report"]),
};
/** The rights that the token of a run has over the jobs that the run starts. */
const CHILD_SCOPES: ReadonlySet<string> = new Set(["jobs:read", "jobs:report", "jobs:create"]);

export interface IdentitySettings extends TokenSettings {
  readonly oidc?: OidcConfig | undefined;
  readonly userHeader?: UserHeaderConfig | undefined;
}

export interface IdentitiesDeps {
  readonly clock: Clock;
  readonly endedLogins: EndedLogins;
  readonly jobTokens: JobTokens;
}

/**
 * The one source of who somebody is, and what they may do: by a configured token, the token of a job, a cookie for one of these,
 * the session of a person, or the header of a trusted proxy.
 */
export class Identities {
  /** The configured tokens of the API. */
  readonly table: TokenTable;
  readonly #deps: IdentitiesDeps;
  readonly #sessions: Sessions | undefined;
  /** Returns the person whom a trusted proxy names in a request. */
  readonly ofProxy: (ctx: Context) => Identity | null;

  constructor(settings: IdentitySettings, deps: IdentitiesDeps) {
    const { oidc, userHeader } = settings;
    this.table = new TokenTable(settings);
    this.#deps = deps;
    this.#sessions = oidc && new Sessions(oidc, deps.jobTokens.seals, deps.clock);
    this.ofProxy = userHeader ? headerPerson(userHeader) : () => null;
  }

  /** Returns who a token stands for; null for another text. @throws AppError unavailable */
  async ofToken(token: string): Promise<Identity | null> {
    const { jobTokens, clock } = this.#deps;
    const claims = await jobTokens.open(token);
    return claims ? ofJobToken(claims) : (this.table.find(token, clock.now())?.identity ?? null);
  }

  /** Returns who a cookie stands for that has neither expired nor logged out; null for another text. @throws AppError unavailable */
  async ofCookie(cookie: string | undefined): Promise<EndingIdentity | null> {
    if (cookie === undefined) return null;
    const identity = (await this.#sessions?.open(cookie)) ?? (await this.#ofTokenCookie(cookie));
    const { expiresAt } = identity ?? {};
    if (!identity || !expiresAt || expiresAt <= this.#deps.clock.now()) return null;
    return (await this.#deps.endedLogins.has(cookie)) ? null : { ...identity, expiresAt };
  }

  async #ofTokenCookie(cookie: string): Promise<Identity | null> {
    const jobToken = jobTokenIn(cookie);
    const identity = jobToken === undefined ? verifyCookie(this.table, cookie) : await this.ofToken(jobToken);
    return identity && { ...identity, actor: `cookie:${identity.actor}` };
  }
}

function ofJobToken({ jobId, internalId, scope, expiresAt }: JobTokenClaims): Identity {
  const own = { jobId, internalId };
  const grants: Grant[] = [{ scopes: OWN_SCOPES[scope], jobs: own }];
  if (scope !== "run") return { actor: `job-token:${jobId}`, grants, expiresAt };
  grants.push({ scopes: CHILD_SCOPES, jobs: { idPrefix: childPrefix(own) } });
  return { actor: `job-token:${jobId}`, grants, expiresAt, run: own };
}
