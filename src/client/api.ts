import { filterQuery, pathSegment } from "./connection.ts";
import { withOwnSession } from "./environment.ts";
import type { Delivery, DeliveryKind, DeliveryState } from "./records/deliveries.ts";
import type { Gate, GateAnswer, GateStatus } from "./records/gates.ts";
import type { FreeObject, Job, JobChange, Status, Step } from "./records/jobs.ts";
import type { AgentHook, JobFilter, Page, WakeMode } from "./records/options.ts";
import type { Run, RunRequest, RunStatus } from "./records/runs.ts";
import type {
  Access,
  AuditAction,
  AuditEntry,
  Channel,
  Expectation,
  Mailbox,
  NotifyRule,
  Stats,
} from "./records/service.ts";
import type { Message, Session, WaitingEvent } from "./records/sessions.ts";

export interface CallOptions {
  /** Aborts the call, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface HookOptions extends CallOptions {
  /** A repeated call with the same key and body within 24 hours has no further effect. */
  readonly idempotencyKey?: string | undefined;
  /** Additional headers, such as a sender's signature. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The path and the token of the service's hooks. */
export interface HookAccess {
  /** The service's `hooks.token`. */
  readonly hookToken?: string | undefined;
  /** The service's `hooks.path`, `/hooks` by default. */
  readonly hooksPath?: string | undefined;
}

export type Call = <T>(
  method: "GET" | "PUT" | "POST" | "DELETE",
  path: string,
  request?: CallOptions & {
    query?: object | undefined;
    body?: unknown;
    headers?: Readonly<Record<string, string | undefined>>;
  },
) => Promise<T>;

type List<Name extends string, Row> = Record<Name, Row[]> & { nextCursor: string | null };

/** A filter whose values are all set: an unset value would match more jobs than intended. */
type DeletionFilter = {
  readonly [Field in keyof Omit<JobFilter, "search" | "children">]: Exclude<JobFilter[Field], undefined>;
};

export type Api = ReturnType<typeof apiCalls>;

type RunQuery = Page & {
  status?: RunStatus | readonly RunStatus[];
  sessionKey?: string;
  /** The name of a mapping. */
  mapping?: string;
  /** Words of the name, or the beginning of the runId. */
  search?: string;
  createdFrom?: string;
  createdBefore?: string;
};
type DeliveryQuery = Page & {
  state?: DeliveryState | readonly DeliveryState[];
  channel?: string;
  /** The id of a rule. */
  rule?: string;
  kind?: DeliveryKind;
};
type GateQuery = Page & { status?: GateStatus | readonly GateStatus[]; jobId?: string };
type AuditQuery = Page & {
  actor?: string;
  action?: AuditAction | readonly AuditAction[];
  target?: string;
  from?: string;
  before?: string;
};
type Fields<Row> = { fields?: readonly (keyof Row)[] };
type Limit = { limit?: number };

interface HookBodies {
  wake: { text: string; mode?: WakeMode };
  agent: AgentHook;
}

interface HookResponses {
  wake: { ok: true; mode: WakeMode; eventId: string };
  agent: { ok: true; runId: string; sessionKey: string };
}

/** Reads a job or run until it has ended. */
export type Wait = <T>(path: string, options?: CallOptions) => Promise<T>;

/**
 * Returns one function for each API call. Each sends one request and throws a SignalboxError unless it succeeds; `wait`
 * sends as many as it takes.
 */
export function apiCalls(call: Call, wait: Wait, { hookToken, hooksPath = "/hooks" }: HookAccess) {
  const read =
    <Body>(path: string) =>
    (options?: CallOptions) =>
      call<Body>("GET", path, options);
  const list =
    <Query extends object, Body>(path: string) =>
    (query?: Query, options?: CallOptions) =>
      call<Body>("GET", path, { ...options, query });
  /** Reads one resource by its id, or the sub-resource at `subPath`. */
  const readOne =
    <Query extends object, Body>(path: string, subPath = "") =>
    (id: string, query?: Query, options?: CallOptions) =>
      call<Body>("GET", path + pathSegment(id) + subPath, { ...options, query });
  /** Sends a request without query and body to one resource. */
  const callOne =
    <Body>(method: "GET" | "POST" | "DELETE", path: string, subPath = "") =>
    (id: string, options?: CallOptions) =>
      call<Body>(method, path + pathSegment(id) + subPath, options);
  const waitOne =
    <Body>(path: string) =>
    (id: string, options?: CallOptions) =>
      wait<Body>(path + pathSegment(id), options);
  /** Calls any hook by its path below `hooks.path`, such as `github`. */
  const sendHook = <Name extends string>(
    name: Name,
    body: Name extends keyof HookBodies ? HookBodies[Name] : object,
    { idempotencyKey, headers, ...options }: HookOptions = {},
  ) =>
    call<Name extends keyof HookResponses ? HookResponses[Name] : FreeObject>(
      "POST",
      hooksPath + name.split("/").map(pathSegment).join(""),
      {
        ...options,
        body,
        headers: {
          Authorization: hookToken && `Bearer ${hookToken}`,
          "Idempotency-Key": idempotencyKey,
          ...headers,
        },
      },
    );

  const jobs = "/api/jobs";
  const gates = "/gates";
  const partOf = (jobId: string, kind: string, key: string) => jobs + pathSegment(jobId) + kind + pathSegment(key);
  const runs = "/api/runs";
  const deliveries = "/api/deliveries";
  const sessions = "/api/sessions";
  return {
    jobs: {
      list: (query: JobFilter & Page & Fields<Job> = {}, options?: CallOptions) =>
        call<List<"jobs", Job>>("GET", jobs, { ...options, query: filterQuery(query) }),
      get: readOne<{ stepKey?: string; include?: "steps" }, Job>(jobs),
      /**
       * Returns the job once it has ended, however long that takes. Continues after a restart of the service.
       * @throws SignalboxError job_not_found, also when the job is deleted meanwhile; the signal's reason
       */
      wait: waitOne<Job>(jobs),
      /** Creates the job, or updates the given fields of an existing one. */
      put: (jobId: string, change: JobChange, options?: CallOptions) =>
        call<Job>("PUT", jobs + pathSegment(jobId), { ...options, body: withOwnSession(change) }),
      /** Requests that a running job be cancelled; with `force` it fails at once. */
      cancel: (jobId: string, body: { reason?: string | null; force?: boolean } = {}, options?: CallOptions) =>
        call<Job>("POST", `${jobs + pathSegment(jobId)}/cancel`, { ...options, body }),
      delete: callOne<{ ok: true }>("DELETE", jobs),
      /**
       * Deletes all jobs that match the filter, or every job with `{ all: true }`. `deleted` is their number.
       * @throws SignalboxError for an empty filter and for a filter with a value that is undefined
       */
      deleteAll: async (filter: DeletionFilter | { all: true }, options?: CallOptions) => {
        const { deletionQuery } = await import("./deletion.ts"); // rarely needed
        return call<{ ok: true; deleted: number }>("DELETE", jobs, {
          ...options,
          query: deletionQuery(filterQuery(Object(filter))),
        });
      },
      steps: readOne<Page & Fields<Step> & { status?: Status | readonly Status[] }, List<"steps", Step>>(
        jobs,
        "/steps",
      ),
      step: (jobId: string, stepKey: string, options?: CallOptions) =>
        call<Step>("GET", partOf(jobId, "/steps", stepKey), options),
    },
    gates: {
      /** Lists the gates of all jobs, newest first. */
      list: list<GateQuery, List<"gates", Gate>>("/api/gates"),
      get: (jobId: string, key: string, options?: CallOptions) => call<Gate>("GET", partOf(jobId, gates, key), options),
      /** @throws SignalboxError gate_answered, gate_closed; invalid_body for content that does not fit */
      answer: (jobId: string, key: string, answer: GateAnswer, options?: CallOptions) =>
        call<Gate>("POST", `${partOf(jobId, gates, key)}/answer`, { ...options, body: answer }),
      withdraw: (jobId: string, key: string, options?: CallOptions) =>
        call<Gate>("DELETE", partOf(jobId, gates, key), options),
    },
    stats: read<Stats>("/api/stats"),
    runs: {
      list: list<RunQuery, List<"runs", Run>>(runs),
      get: callOne<Run>("GET", runs),
      /**
       * Returns the run once it has ended, however long that takes. Continues after a restart of the service.
       * @throws SignalboxError run_not_found; the signal's reason
       */
      wait: waitOne<Run>(runs),
      /** Returns the call of the hook and the request to the agent. */
      request: callOne<RunRequest>("GET", runs, "/request"),
      retry: callOne<Run>("POST", runs, "/retry"),
      cancel: callOne<Run>("POST", runs, "/cancel"),
    },
    deliveries: {
      list: list<DeliveryQuery, List<"deliveries", Delivery>>(deliveries),
      retry: callOne<Delivery>("POST", deliveries, "/retry"),
      cancel: callOne<Delivery>("POST", deliveries, "/cancel"),
    },
    notify: {
      /** Returns the rules of the configuration with their latest deliveries, and the expectations. */
      get: read<{ rules: NotifyRule[]; expectations: Expectation[] }>("/api/notify"),
      /** Sends the event `test` through a rule. */
      test: callOne<{ deliveryId: string }>("POST", "/api/notify", "/test"),
    },
    sessions: {
      /** Lists the most recently used sessions first. */
      list: list<Page, List<"sessions", Session>>(sessions),
      /** Returns the latest messages, oldest first; `main` is the main session. `nextCursor` leads to those before. */
      messages: readOne<Page, List<"messages", Message>>(sessions, "/messages"),
      /** Lists the events that wait for the main session's next heartbeat, oldest first. */
      waitingEvents: list<Limit, { events: WaitingEvent[]; waiting: number }>(`${sessions}/main/events`),
      /** Removes an event from the main session's queue. */
      deleteEvent: callOne<{ ok: true }>("DELETE", `${sessions}/main/events`),
    },
    channels: read<{ channels: Channel[]; route: { channel: string; to: string } | null }>("/api/channels"),
    /** Returns the health of the Gmail listener, or null if none is configured. */
    gmail: read<{ gmail: Mailbox | null }>("/api/gmail"),
    /** Lists the audit log, newest first. */
    audit: list<AuditQuery, List<"entries", AuditEntry>>("/api/audit"),
    hooks: { send: sendHook },
    /** Sends any request to the API, and returns the body of the response. */
    call,
    /** A browser's login: a cookie that replaces the token. */
    access: {
      get: read<Access>("/session"),
      logIn: (token: string, options?: CallOptions) => call<void>("POST", "/session", { ...options, body: { token } }),
      logOut: (options?: CallOptions) => call<void>("DELETE", "/session", options),
    },
  };
}
