import type { Context } from "koa";
import { isInGroup, type JobGroup, type JobScope, type OneJob, ownJob } from "../../models/jobs/jobScope.ts";
import { allows, type Scope } from "../../shared/access/scopes.ts";

/** Scopes, and the jobs to which those for jobs apply; all jobs when undefined. */
export interface Grant {
  readonly scopes: ReadonlySet<string>;
  readonly jobs?: JobGroup | undefined;
}

/** The name of a caller, and the rights: whatever any of the grants allows. */
export interface Identity {
  /**
   * The name in the audit log: of a token, `cookie:NAME`, `job-token:JOB`, `oidc:PERSON`, `header:PERSON` or `anonymous`;
   * `hook-token` only reads a run.
   */
  readonly actor: string;
  readonly grants: readonly Grant[];
  /** When the token or cookie stops being valid. */
  readonly expiresAt?: Date | undefined;
  /** The job of the token of a run. */
  readonly run?: OneJob | undefined;
  /** Set for a person whom the provider or the proxy has named. */
  readonly person?: Person | undefined;
}

/** An identity that ends. */
export type EndingIdentity = Identity & { readonly expiresAt: Date };

/** A person whom the company's provider, or a proxy, has named. */
interface Person {
  /** The name that the dashboard shows. */
  readonly name: string;
  /** The setting whose roles decide what the person may do. */
  readonly setting: "server.oidc" | "server.userHeader";
}

/** The caller of a request. */
export interface Caller extends Identity {
  /** The browser's cookie, if it authenticated the request. */
  readonly cookie?: string;
  /** Returns a text without the token in the header of the request, which must not be stored; absent without such a token. */
  readonly hideToken?: ((text: string) => string) | undefined;
  /** Whether a token in a header authenticated the request. */
  readonly byHeader: boolean;
  /** The address that the request came from. */
  readonly address: string;
  readonly requestId: string;
  /** The id that the service gave the request, whatever the caller sent. */
  readonly serviceRequestId: string;
  /** The address of the service by which the request came, such as `http://127.0.0.1:3000`. */
  readonly origin: string;
}

/** Returns where a request came from. */
export const originOf = ({ ip, protocol, host, state }: Pick<Context, "ip" | "protocol" | "host" | "state">) => ({
  address: ip,
  origin: `${protocol}://${host}`,
  requestId: String(state.requestId),
  serviceRequestId: String(state.serviceRequestId),
});

type Granted = Pick<Identity, "grants">;

/** Returns whether a caller may do what needs any of the scopes, for some jobs at least. */
export const mayDo = ({ grants }: Granted, ...needed: readonly Scope[]): boolean =>
  grants.some(({ scopes }) => allows(scopes, needed));

/** Returns all scopes of a caller. */
export const scopesOf = ({ grants }: Granted): string[] => [...new Set(grants.flatMap(({ scopes }) => [...scopes]))];

/** Returns the jobs for which a caller has a scope; undefined for all jobs. */
export function jobsFor({ grants }: Granted, scope: Scope): JobScope | undefined {
  const groups = grants.flatMap(({ scopes, jobs }) => (allows(scopes, [scope]) ? [jobs] : []));
  return groups.includes(undefined) ? undefined : groups.filter((group) => group !== undefined);
}

/** Returns a caller with what its grants allow for one job. */
export function atJob<C extends Granted>(caller: C, jobId: string): C {
  if (caller.grants.every(({ jobs }) => jobs === undefined || isInGroup(jobId, jobs))) return caller;
  const grants = caller.grants.map((grant) => {
    if (grant.jobs === undefined || isInGroup(jobId, grant.jobs)) return grant;
    return { ...grant, scopes: new Set([...grant.scopes].filter((scope) => !ABOUT_JOBS.test(scope))) };
  });
  return { ...caller, grants };
}

/** Matches the scopes that `jobs` of a grant confines. */
const ABOUT_JOBS = /^(jobs:|gates:|admin$)/;

/** Returns the job of a caller who has the token of a job. */
export const jobOf = ({ grants }: Granted): OneJob | undefined => ownJob(grants.flatMap(({ jobs }) => jobs ?? []));
