import type { Static, TObject, TSchema, TUnion } from "typebox";
import type { Scope } from "../../shared/access/scopes.ts";
import type { ErrorCode } from "../../shared/errorCatalogue.ts";
import type { AuditAction } from "../../wire/audit.ts";
import type { LoginContext } from "../auth/apiAuth.ts";
import type { Caller } from "../auth/caller.ts";
import type { AuthenticatedSender } from "../auth/hookAuth.ts";
import type { ApiDeps } from "../deps.ts";
import type { Example } from "../examples/example.ts";
import type { RequestedWait } from "../wait.ts";

/**
 * The results of authentication that a route's handler can receive, by the name that the route gives in `authContext`.
 * The middleware that `buildApp` puts in front of the route's path stores the result in `ctx.state.authContext`.
 */
interface AuthContexts {
  /** Routes under `/api`. */
  readonly api: Caller;
  /** Routes of the browser's log-in. */
  readonly login: LoginContext;
  /** The route of mapped hooks. */
  readonly sender: AuthenticatedSender;
  readonly none: undefined;
}

export interface RouteSchemas {
  readonly params?: TObject;
  readonly query?: TObject;
  /** Header names in lower case. */
  readonly headers?: TObject;
  /** An object, or a union that includes one. */
  readonly body?: TObject | TUnion;
}

/** The groups of operations in openapi.json. */
export const TAGS = {
  jobs: "A job is a piece of work whose progress you track. Create it, report its steps, and read how far it is.",
  steps: "The steps of a job. The code that does the work reports their progress, output and failure.",
  gates: "A gate is a question to a person, attached to a job. The code that asked waits for the answer.",
  events: "Streams of server-sent events, which report changes as they happen.",
  hooks: "Webhooks, with which other systems start an agent run or wake the main session.",
  runs: "Agent runs that hooks have started: their status, reply and error. Failed ones can be retried.",
  requests: "Requests that external systems sent to hooks, with their outcomes. Kept requests can be replayed.",
  sessions: "Conversations of the agent, and the events that wait for the main session.",
  deliveries: "Replies and events that are sent, and the state of the channels and the mailbox.",
  notify: "Rules that send events to web servers, chats or the agent, and jobs that are expected regularly.",
  session: "The log-in of a browser.",
  mcp: "The endpoint of the Model Context Protocol, by which agents report their own progress.",
  operations: "Probes for load balancers and monitoring.",
} as const;

/** The schema of each successful response, by status. */
export type Answers = Readonly<Record<number, TSchema>>;

type Value<S> = S extends TSchema ? Static<S> : undefined;

export interface Input<S extends RouteSchemas, K extends keyof AuthContexts = "none"> {
  readonly params: Value<S["params"]>;
  readonly query: Value<S["query"]>;
  readonly headers: Value<S["headers"]>;
  readonly body: Value<S["body"]>;
  /** The body of a route with `textBody`; empty for other routes. */
  readonly text: string;
  /** The media type of the text in lower case, without parameters; empty if there is none. */
  readonly textType: string;
  /** The result of the authentication that the route names in `authContext`. */
  readonly authContext: AuthContexts[K];
  /** The wait that the request asks for; null if it asks for none, and for a route without `canWait`. */
  readonly wait: RequestedWait | null;
}

export type Answer<A extends Answers> = {
  [K in keyof A & number]: {
    readonly status: K;
    readonly body: Static<A[K]>;
    readonly headers?: Readonly<Record<string, string>>;
    /** The body as JSON, if the handler has serialized it already. */
    readonly json?: string;
    /** Whether the call changed nothing, so that the audit log has no entry of it. */
    readonly changedNothing?: boolean;
  };
}[keyof A & number];

/**
 * One operation of the API. The object is the only source for validation, the static types of the handler, openapi.json and
 * the strict check in tests.
 */
export interface Route<
  S extends RouteSchemas = RouteSchemas,
  A extends Answers = Answers,
  K extends keyof AuthContexts = "none",
> {
  readonly method: "get" | "put" | "post" | "delete";
  /** The path in the syntax of the router: `/api/jobs/:jobId`. */
  readonly path: string;
  readonly operationId: string;
  /** The scopes of which a caller needs one; none for a route that is open to everybody. */
  readonly scopes: readonly Scope[];
  readonly tag: keyof typeof TAGS;
  /** The effect of the call, in the imperative: `List jobs`. */
  readonly summary: string;
  /** The purpose of the call, when to use it, its limits, and whether it is idempotent; Markdown. */
  readonly description: string;
  /** Shown in the API reference, where it fills in the form of "Try it out". */
  readonly example: Example;
  readonly schemas: S;
  /** Maximum size of the body in bytes (default: `server.bodyLimit`). */
  readonly bodyLimit?: number;
  /** Set when the request's body is text of any type, not JSON; it may be absent. */
  readonly textBody?: true;
  /** The media types of the text (default: any). A text without a type is taken in any case. */
  readonly textTypes?: readonly string[];
  /** Set when the response is a stream of server-sent events instead of JSON. */
  readonly stream?: true;
  /** Set when the route honours `Prefer: wait=N`: its handler receives `wait`. */
  readonly canWait?: true;
  /** Returns whether a body asks for the longest wait, whatever the header says. */
  waitsFully?(body: unknown): boolean;
  /** Returns whether the response may be tens of megabytes, so that its read waits for memory. */
  isLarge?(query: Readonly<Record<string, unknown>>): boolean;
  /** The description of each header of the successful responses that only this route has. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  /** The result of authentication that the handler receives; none by default. */
  readonly authContext?: K;
  readonly answers: A;
  /** The error codes besides `COMMON_ERRORS` and, for routes with a body, `BODY_ERRORS`. */
  readonly errors: readonly ErrorCode[];
  /** Returns the entry of the audit log for a successful call that changed something; null if this call needs none. */
  audit?(input: Input<S, K>): { readonly action: AuditAction; readonly target: string } | null;
  /** The fields of the response that a caller without any of the scopes `unless` receives. */
  readonly receipt?: { readonly unless: readonly Scope[]; readonly schema: TObject };
  /** Handles a valid request; has no access to Koa's context. @throws AppError with one of the codes above */
  handler(input: Input<S, K>, deps: ApiDeps): Promise<Answer<NoInfer<A>>>;
}

// biome-ignore lint/suspicious/noExplicitAny: a list of routes holds routes of every shape
export type AnyRoute = Route<any, any, any>;

const COMMON_ERRORS: readonly ErrorCode[] = [
  "invalid_query",
  "unauthorized",
  "forbidden",
  "rate_limited",
  "internal",
  "unavailable",
];
const BODY_ERRORS: readonly ErrorCode[] = ["invalid_json", "invalid_body", "body_too_large", "unsupported_media_type"];

/** Returns the definition with its inferred types; the statuses of the answers stay literal. */
export const route = <S extends RouteSchemas, const A extends Answers, K extends keyof AuthContexts = "none">(
  definition: Route<S, A, K>,
): Route<S, A, K> => definition;

/** Returns every error code that the route can answer with. */
export const errorsOf = (r: AnyRoute): ErrorCode[] => [
  ...new Set([...COMMON_ERRORS, ...(r.schemas.body ? BODY_ERRORS : []), ...r.errors]),
];
