import { SignalboxError } from "../../../client/client.ts";
import { pathSegment } from "../../../client/connection.ts";
import type { LogLine, LogPage } from "../../../wire/log.ts";
import { BASE_PATH } from "../../basePath.ts";
import { service } from "../service.ts";

export type { LogLine };

/** Lines that are read first, and with each further request. */
const FIRST_LINES = 10_000;
const WAIT_SECONDS = 25;

const pathOf = (jobId: string, stepKey: string): string =>
  `/api/jobs${pathSegment(jobId)}/steps${pathSegment(stepKey)}/log`;

/** Reads the last lines of a log, or those after a line as soon as there are any. */
export const readLogPage = (
  jobId: string,
  stepKey: string,
  after: number | undefined,
  signal: AbortSignal,
): Promise<LogPage> =>
  service.call<LogPage>("GET", pathOf(jobId, stepKey), {
    signal,
    query: after === undefined ? { tail: FIRST_LINES } : { after, limit: FIRST_LINES },
    headers: after === undefined ? {} : { Prefer: `wait=${WAIT_SECONDS}` },
  });

/** Reads the text of all lines that are kept. */
export async function readAllText(jobId: string, stepKey: string): Promise<string> {
  const response = await fetch(BASE_PATH + pathOf(jobId, stepKey), { headers: { Accept: "text/plain" } });
  return response.text();
}

/** Returns whether a log can no longer be read: the job or the step does not exist, or the token may not read it. */
export const isLogGone = (error: unknown): boolean =>
  error instanceof SignalboxError && [401, 403, 404].includes(error.status);
