import type { LoginContext } from "./apiAuth.ts";
import type { Caller } from "./caller.ts";
import type { AuthenticatedSender } from "./hookAuth.ts";

/**
 * The results of authentication that a route's handler can receive, by the name that the route gives in `authContext`.
 * The middleware that `buildApp` puts in front of the route's path stores the result in `ctx.state.authContext`.
 */
export interface AuthContexts {
  /** Routes under `/api`. */
  readonly api: Caller;
  /** Routes of the browser's log-in. */
  readonly login: LoginContext;
  /** The route of mapped hooks. */
  readonly sender: AuthenticatedSender;
  readonly none: undefined;
}
