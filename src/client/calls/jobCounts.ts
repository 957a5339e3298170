import { type Call, type CallOptions, filterQuery } from "../api.ts";
import type { JobFilter } from "../records/jobs.ts";
import type { Stats } from "../records/service.ts";

/** Returns the call that counts the jobs that match a filter, for the page: it is not part of the client. */
export const jobCounts = (call: Call) => (filter: JobFilter, options?: CallOptions) =>
  call<Stats>("GET", "/api/stats", { ...options, query: filterQuery(filter) });
