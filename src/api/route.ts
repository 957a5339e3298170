import type { Static, TObject, TSchema } from "typebox";
import type { ErrorCode } from "../shared/errors.ts";
import type { ApiDeps } from "./deps.ts";

export interface RouteSchemas {
  readonly params?: TObject;
  readonly query?: TObject;
  /** Header names in lower case. */
  readonly headers?: TObject;
  readonly body?: TObject;
}

/** The groups of calls. */
export const TAGS = {
  jobs: "What is done, and how far it is.",
  steps: "Of which a job is made.",
  events: "What happens, as it happens.",
  hooks: "By which outside systems wake an agent or set it to work.",
  runs: "What became of hooks.",
  sessions: "What an agent was told, and said.",
  deliveries: "Replies on their way to chat channels, and whether they went.",
  session: "The log-in of a browser.",
  operations: "For those who run the service.",
} as const;

/** What a route can answer when all is well: a schema for each status. */
export type Answers = Readonly<Record<number, TSchema>>;

type Value<S> = S extends TSchema ? Static<S> : undefined;

export interface Input<S extends RouteSchemas> {
  readonly params: Value<S["params"]>;
  readonly query: Value<S["query"]>;
  readonly headers: Value<S["headers"]>;
  readonly body: Value<S["body"]>;
  /** What a layer of the route's own has found out before, for the handler to know. */
  readonly admitted: unknown;
}

export type Answer<A extends Answers> = {
  [K in keyof A & number]: {
    readonly status: K;
    readonly body: Static<A[K]>;
    readonly headers?: Readonly<Record<string, string>>;
  };
}[keyof A & number];

/**
 * One call of the API. The object is the only source for validation, the static types of the handler, openapi.json and
 * the strict check in tests.
 */
export interface Route<S extends RouteSchemas = RouteSchemas, A extends Answers = Answers> {
  readonly method: "get" | "put" | "post" | "delete";
  /** As the router takes it: `/api/jobs/:jobId`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description?: string;
  readonly schemas: S;
  /** Largest body in bytes, where it is not `server.bodyLimit`. */
  readonly bodyLimit?: number;
  /** It answers with a stream of server-sent events, not with JSON. */
  readonly stream?: true;
  readonly answers: A;
  /** The codes besides those that any call can answer with (`COMMON_ERRORS`, and `BODY_ERRORS` where there is a body). */
  readonly errors: readonly ErrorCode[];
  /** Sees neither Koa's context nor MongoDB's documents. Throws AppError with one of the codes above. */
  handler(input: Input<S>, deps: ApiDeps): Promise<Answer<NoInfer<A>>>;
}

// biome-ignore lint/suspicious/noExplicitAny: a list of routes holds routes of every shape
export type AnyRoute = Route<any, any>;

const COMMON_ERRORS: readonly ErrorCode[] = [
  "invalid_query",
  "unauthorized",
  "forbidden",
  "rate_limited",
  "internal",
  "unavailable",
];
const BODY_ERRORS: readonly ErrorCode[] = ["invalid_json", "invalid_body", "body_too_large", "unsupported_media_type"];

/** Gives the definition its types; the answers' statuses stay literal. */
export const route = <S extends RouteSchemas, const A extends Answers>(definition: Route<S, A>): Route<S, A> =>
  definition;

/** Every code the route may answer with. */
export const errorsOf = (r: AnyRoute): ErrorCode[] => [
  ...new Set([...COMMON_ERRORS, ...(r.schemas.body ? BODY_ERRORS : []), ...r.errors]),
];
