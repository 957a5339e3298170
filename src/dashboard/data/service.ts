import { apiCalls, type Call, type CallOptions } from "../../client/api.ts";
import { channelCalls } from "../../client/calls/channels.ts";
import { hookRequestCalls } from "../../client/calls/hookRequests.ts";
import {
  type RunStatsQuery,
  readBudgets,
  readHistory,
  readJobErrors,
  readRunStats,
  readSettings,
  runAgain as requestRunAgain,
  testHook as requestTestHook,
  shareCalls,
} from "../../client/calls/page.ts";
import type { ClientContext } from "../../client/clientContext.ts";
import { connect } from "../../client/connection.ts";
import { waitForEnd } from "../../client/wait.ts";
import { type WatchOptions, watch, watchRun } from "../../client/watch.ts";
import { BASE_PATH } from "../basePath.ts";
import { setServerTime } from "../clock.ts";

/** The connection to the service that served this page; the browser sends the login's cookie. */
const context: ClientContext = {
  connection: connect({ url: BASE_PATH, fetch: fetchWithTime }, new AbortController().signal),
  closed: new AbortController().signal,
  retryForMs: 0,
  onError() {},
  pending: new Set(),
};

async function fetchWithTime(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request);
  setServerTime(response.headers.get("Date"));
  return response;
}

const call: Call = (...request) => context.connection.call(...request);

/** The parts of the client that the page needs: calls and events. It does not load those that report. */
export const service = {
  ...apiCalls(call, (...request) => waitForEnd(context, ...request), {}),
  call,
  watch: (options: WatchOptions) => watch(context, options),
  watchRun: (runId: string, options: CallOptions) => watchRun(context, runId, options),
};

export const channels = channelCalls(service.call);

export const share = shareCalls(service.call);

export const hookRequests = hookRequestCalls(service.call);

/** Starts a new run with the request of an ended one. */
export const runAgain = (runId: string) => requestRunAgain(service.call, runId);

/** Starts a run with a test message. */
export const testHook = () => requestTestHook(service.call);

export const runStats = (query: RunStatsQuery, signal: AbortSignal) => readRunStats(service.call, query, { signal });

export const settings = (signal: AbortSignal) => readSettings(service.call, { signal });

export const history = (query: { window: string; name?: string; cursor?: string }, signal: AbortSignal) =>
  readHistory(service.call, query, { signal });

export const jobErrors = (signal: AbortSignal) => readJobErrors(service.call, { signal });

export const budgets = (signal: AbortSignal) => readBudgets(service.call, { signal });
