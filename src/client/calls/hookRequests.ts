import type {
  DryRun,
  Hook,
  HookRequest,
  HookRequestRow,
  Replayed,
  RequestOutcome,
  TryHookRequest,
} from "../../wire/hookRequest.ts";
import type { Call, CallOptions } from "../api.ts";
import { pathSegment } from "../connection.ts";
import type { Page } from "../records/options.ts";
import type { MissingValue } from "../records/runs.ts";

/** Filters of the list of kept requests. */
export type RequestQuery = Page & {
  hook?: string;
  mapping?: string;
  outcome?: RequestOutcome | readonly RequestOutcome[];
  status?: number;
  from?: string;
  before?: string;
};

const PATH = "/api/hooks/requests";

/** Returns the calls about kept requests to hooks, for the command line and the page: they are not part of the client. */
export const hookRequestCalls = (call: Call) => ({
  /** Lists the hooks with their requests of the last 24 hours. */
  hooks: (options?: CallOptions) => call<{ hooks: Hook[] }>("GET", "/api/hooks", options),
  /** Lists the kept requests, newest first. */
  list: (query: RequestQuery, options?: CallOptions) =>
    call<{ requests: HookRequestRow[]; nextCursor: string | null }>("GET", PATH, { ...options, query }),
  get: (requestId: string, options?: CallOptions) => call<HookRequest>("GET", PATH + pathSegment(requestId), options),
  /** Starts new runs from a kept request, by its own mapping or the one that `mapping` names. */
  replay: (requestId: string, body: { mapping?: string } = {}, options?: CallOptions) =>
    call<Replayed>("POST", `${PATH + pathSegment(requestId)}/replay`, { ...options, body }),
  /** Returns what a replay would do. */
  dryRun: (requestId: string, body: { mapping?: string } = {}, options?: CallOptions) =>
    call<DryRun>("POST", `${PATH + pathSegment(requestId)}/replay`, { ...options, body: { ...body, dryRun: true } }),
  /** Returns what the mappings would make of a request. */
  try: (request: TryHookRequest, options?: CallOptions) =>
    call<DryRun>("POST", "/api/hooks/dry-run", { ...options, body: request }),
});

/** Returns the sentence about placeholders without a value, for the command line and the page; null if there are none. */
export function describeMissing(missing: readonly MissingValue[] = []): string | null {
  if (missing.length === 0) return null;
  const paths = missing.map(({ path, didYouMean }) => (didYouMean ? `${path} (did you mean ${didYouMean}?)` : path));
  return `${missing.length === 1 ? "1 placeholder" : `${missing.length} placeholders`} had no value: ${paths.join(", ")}`;
}
