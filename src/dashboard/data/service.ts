import { createClient, type Job, type Step } from "../../client/client.ts";
import { setServerTime } from "../clock.ts";

/** The service that this page came from; the log-in's cookie goes along by itself. */
export const service = createClient({
  url: "",
  async fetch(...request) {
    const response = await fetch(...request);
    setServerTime(response.headers.get("Date"));
    return response;
  },
});

/** What a row of the list of jobs shows, and no more: inputs and outputs are large. */
export const JOB_ROW: readonly (keyof Job)[] = [
  ...(["jobId", "name", "description", "status", "progress", "message", "createdAt", "updatedAt"] as const),
  ...(["lastReportAt", "staleAt", "stale", "staleAfterSeconds", "currentStep"] as const),
];

/** What is shown of each step of a job. */
export const STEP_ROW: readonly (keyof Step)[] = [
  ...(["stepId", "jobId", "stepKey", "stepName", "status", "progress", "message", "createdAt", "updatedAt"] as const),
  ...(["startedAt", "attempts", "lastReportAt", "stale"] as const),
];
