import { createClient, type Job, type Step } from "../../client/client.ts";
import { setServerTime } from "../clock.ts";

/** The client of the service that served this page; the browser sends the login's cookie. */
export const service = createClient({
  url: "",
  async fetch(...request) {
    const response = await fetch(...request);
    setServerTime(response.headers.get("Date"));
    return response;
  },
});

/** The fields of a row of the list of jobs; inputs and outputs are large. */
export const JOB_ROW: readonly (keyof Job)[] = [
  ...(["jobId", "name", "description", "status", "progress", "message", "createdAt", "updatedAt"] as const),
  ...(["lastReportAt", "staleAt", "stale", "staleAfterSeconds", "currentStep"] as const),
];

/** The fields of a row of the list of steps. */
export const STEP_ROW: readonly (keyof Step)[] = [
  ...(["stepId", "jobId", "stepKey", "stepName", "status", "progress", "message", "createdAt", "updatedAt"] as const),
  ...(["startedAt", "attempts", "lastReportAt", "stale"] as const),
];
