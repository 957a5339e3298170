import type { Call, CallOptions } from "../api.ts";

/** Starts a run with a test message, for the page: it is not part of the client. */
export const testHook = (call: Call, options?: CallOptions) =>
  call<{ runId: string }>("POST", "/api/hooks/test", options);
