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
import { createClient } from "../../client/client.ts";
import "../../client/api.ts"; // with the page, not at the first call
import { BASE_PATH } from "../basePath.ts";
import { setServerTime } from "../clock.ts";

/** The client of the service that served this page; the browser sends the login's cookie. */
export const service = createClient({
  url: BASE_PATH,
  async fetch(...request) {
    const response = await fetch(...request);
    setServerTime(response.headers.get("Date"));
    return response;
  },
});

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
