import { segment } from "./connection.ts";
import type {
  Access,
  AgentHook,
  Channel,
  Delivery,
  DeliveryState,
  FreeObject,
  Job,
  JobFields,
  JobFilter,
  Message,
  Page,
  Run,
  RunRequest,
  RunStatus,
  Session,
  Stats,
  Status,
  Step,
  WaitingEvent,
  WakeMode,
} from "./records.ts";

export interface CallOptions {
  /** Ends the call, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

export interface HookOptions extends CallOptions {
  /** The same key and body within 24 hours have one effect. */
  readonly idempotencyKey?: string | undefined;
  /** More headers, such as a sender's signature. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Where the hooks are and what opens them. */
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

/** Besides the fields of a job what is for correction by hand. */
export type JobChange = JobFields & {
  status?: Status;
  progress?: number;
  message?: string | null;
  output?: object | null;
};

export type Api = ReturnType<typeof apiCalls>;

type RunQuery = Page & { status?: RunStatus | readonly RunStatus[]; sessionKey?: string };
type DeliveryQuery = Page & { state?: DeliveryState | readonly DeliveryState[]; channel?: string };
type Fields<Row> = { fields?: readonly (keyof Row)[] };
type Limit = { limit?: number };

interface HookBodies {
  wake: { text: string; mode?: WakeMode };
  agent: AgentHook;
}

interface HookAnswers {
  wake: { ok: true; mode: WakeMode; eventId: string };
  agent: { ok: true; runId: string; sessionKey: string };
}

/** One function for each call of the API: one request, its answer, and a SignalboxError for anything else. */
export function apiCalls(call: Call, { hookToken, hooksPath = "/hooks" }: HookAccess) {
  const read =
    <Answer>(path: string) =>
    (options?: CallOptions) =>
      call<Answer>("GET", path, options);
  const search =
    <Filter extends object, Answer>(path: string) =>
    (query?: Filter, options?: CallOptions) =>
      call<Answer>("GET", path, { ...options, query });
  /** What there is below the one of this name. */
  const below =
    <Filter extends object, Answer>(path: string, part = "") =>
    (id: string, query?: Filter, options?: CallOptions) =>
      call<Answer>("GET", path + segment(id) + part, { ...options, query });
  /** Of each row only the fields that are named, where some are. */
  const rows = <Answer>(path: string, { fields, ...query }: Fields<never>, options?: CallOptions) =>
    call<Answer>("GET", path, { ...options, query: { ...query, fields: fields?.join() } });
  /** What is done to the one of this name. */
  const act =
    <Answer>(method: "GET" | "POST" | "DELETE", path: string, doing = "") =>
    (id: string, options?: CallOptions) =>
      call<Answer>(method, path + segment(id) + doing, options);
  /** Any hook, by its path behind the base path, such as `github`. */
  const sendHook = <Name extends string>(
    name: Name,
    body: Name extends keyof HookBodies ? HookBodies[Name] : object,
    { idempotencyKey, headers, ...options }: HookOptions = {},
  ) =>
    call<Name extends keyof HookAnswers ? HookAnswers[Name] : FreeObject>(
      "POST",
      hooksPath + name.split("/").map(segment).join(""),
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
  const runs = "/api/runs";
  const deliveries = "/api/deliveries";
  const sessions = "/api/sessions";
  return {
    jobs: {
      list: (query: JobFilter & Page & Fields<Job> = {}, options?: CallOptions) =>
        rows<List<"jobs", Job>>(jobs, filterQuery(query), options),
      get: below<{ stepKey?: string; include?: "steps" }, Job>(jobs),
      /** Creates the job, or changes the fields given. */
      put: (jobId: string, change: JobChange, options?: CallOptions) =>
        call<Job>("PUT", jobs + segment(jobId), { ...options, body: change }),
      delete: act<{ ok: true }>("DELETE", jobs),
      /** Deletes every job that the filter fits; an empty one fits all. */
      deleteAll: (filter: JobFilter, options?: CallOptions) =>
        call<{ ok: true }>("DELETE", jobs, { ...options, query: filterQuery(filter) }),
      steps: (jobId: string, query: Page & Fields<Step> = {}, options?: CallOptions) =>
        rows<List<"steps", Step>>(`${jobs + segment(jobId)}/steps`, query, options),
      step: (jobId: string, stepKey: string, options?: CallOptions) =>
        call<Step>("GET", `${jobs + segment(jobId)}/steps${segment(stepKey)}`, options),
    },
    stats: read<Stats>("/api/stats"),
    runs: {
      list: search<RunQuery, List<"runs", Run>>(runs),
      get: act<Run>("GET", runs),
      /** What came and what was asked. */
      request: act<RunRequest>("GET", runs, "/request"),
      retry: act<Run>("POST", runs, "/retry"),
      cancel: act<Run>("POST", runs, "/cancel"),
    },
    deliveries: {
      list: search<DeliveryQuery, List<"deliveries", Delivery>>(deliveries),
      retry: act<Delivery>("POST", deliveries, "/retry"),
      cancel: act<Delivery>("POST", deliveries, "/cancel"),
    },
    sessions: {
      /** Newest use first. */
      list: search<Page, List<"sessions", Session>>(sessions),
      /** The latest messages, oldest first; `main` is the main session. */
      messages: below<Limit, { messages: Message[] }>(sessions, "/messages"),
      /** What waits for the main session's next heartbeat, oldest first. */
      waitingEvents: search<Limit, { events: WaitingEvent[]; waiting: number }>(`${sessions}/main/events`),
      /** Takes an event off the main session's queue. */
      deleteEvent: act<{ ok: true }>("DELETE", `${sessions}/main/events`),
    },
    channels: read<{ channels: Channel[]; route: { channel: string; to: string } | null }>("/api/channels"),
    /** The health of the Gmail listener; null where none is configured. */
    gmail: read<{ gmail: FreeObject | null }>("/api/gmail"),
    hooks: { send: sendHook },
    /** The cookie of a browser that stands for the token. */
    access: {
      get: read<Access>("/session"),
      logIn: (token: string, options?: CallOptions) => call<void>("POST", "/session", { ...options, body: { token } }),
      logOut: (options?: CallOptions) => call<void>("DELETE", "/session", options),
    },
  };
}

/** As parameters of a URL. */
export const filterQuery = <Filter extends JobFilter>({ metadata = {}, ...filter }: Filter) => ({
  ...filter,
  ...Object.fromEntries(Object.entries(metadata).map(([key, value]) => [`metadata.${key}`, value])),
});
