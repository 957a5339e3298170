import type { LoginContext } from "./apiAuth.ts";
import type { AuthenticatedSender } from "./hookAuth.ts";

/**
 * The results of authentication that a route's handler can receive, by the name that the route gives in `authContext`.
 * The middleware that `buildApp` puts in front of the route's path stores the result in `ctx.state.authContext`.
 */
export interface AuthContexts {
  /** Routes under `/api`. */
  readonly api: ApiCaller;
  /** Routes of the browser's log-in. */
  readonly login: LoginContext;
  /** The route of mapped hooks. */
  readonly sender: AuthenticatedSender;
  readonly none: undefined;
}

/** The caller of a route under `/api`. */
export interface ApiCaller {
  /** True when only the hook token authenticated the request. */
  readonly byHookToken: boolean;
  /** Set when a browser's cookie authenticated the request. */
  readonly login?: Login;
}

/** A browser's log-in, for routes whose responses outlast the check of the cookie. */
export interface Login {
  readonly cookie: string;
  readonly expiresAt: Date;
}
