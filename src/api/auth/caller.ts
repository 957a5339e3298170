import type { Context } from "koa";
import type { JobScope, OneJob } from "../../models/jobs/jobScope.ts";
import { allows, type Scope } from "../../shared/scopes.ts";

/** The caller of a request, and what it may do. */
export interface Caller {
  /** The name in the audit log: of the token, `cookie:NAME`, `job-token:JOB` or `anonymous`; `hook-token` only reads a run. */
  readonly actor: string;
  readonly scopes: ReadonlySet<string>;
  /** The jobs to which the scopes for jobs apply; all jobs when undefined. */
  readonly jobs?: JobScope | undefined;
  /** When the token or cookie stops being valid. */
  readonly expiresAt?: Date | undefined;
  /** Set when a browser's cookie authenticated the request. */
  readonly login?: Login;
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

/** A browser's log-in, for routes whose responses outlast the check of the cookie. */
export interface Login {
  readonly cookie: string;
  readonly expiresAt: Date;
}

/** Returns the job of the token of a run; undefined for other callers. */
export const runOf = ({ jobs }: Pick<Caller, "jobs">): OneJob | undefined =>
  jobs && "jobId" in jobs && jobs.withChildren ? jobs : undefined;

/** Returns whether a caller may do what needs any of the scopes. */
export const mayDo = ({ scopes }: Pick<Caller, "scopes">, ...needed: readonly Scope[]): boolean =>
  allows(scopes, needed);
