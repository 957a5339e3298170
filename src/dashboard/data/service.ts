import { apiCalls, type Call, type CallOptions } from "../../client/api.ts";
import { channelCalls } from "../../client/calls/channels.ts";
import { hookRequestCalls } from "../../client/calls/hookRequests.ts";
import { pageCalls } from "../../client/calls/page.ts";
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
  ...pageCalls(call),
  channel: channelCalls(call),
  hookRequests: hookRequestCalls(call),
  call,
  watch: (options: WatchOptions) => watch(context, options),
  watchRun: (runId: string, options: CallOptions) => watchRun(context, runId, options),
};
