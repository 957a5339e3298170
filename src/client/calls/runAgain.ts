import type { Call, CallOptions } from "../api.ts";
import { pathSegment } from "../connection.ts";
import type { Run } from "../records/runs.ts";

/** Starts a new run with the request of an ended one, for the command line and the page: it is not part of the client. */
export const runAgain = (call: Call, runId: string, options?: CallOptions) =>
  call<Run>("POST", `/api/runs${pathSegment(runId)}/again`, options);
