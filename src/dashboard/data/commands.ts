import { access } from "./access.ts";

/** The environment variables that the page's commands take tokens from. */
const API_TOKEN = "SIGNALBOX_API_TOKEN";
const HOOKS_TOKEN = "SIGNALBOX_HOOKS_TOKEN";

/** Returns a shell command that creates a job. */
export const createJobCommand = (): string =>
  curl("PUT", "/api/jobs/my-job", { name: "My first job" }, access.value?.needsToken ? API_TOKEN : null);

/** Returns a shell command that reports the first step of a job. */
export const reportStepCommand = (jobId: string): string =>
  curl(
    "PUT",
    `/api/jobs/${encodeSegment(jobId)}/steps/first-step`,
    { stepName: "First step", progress: 50, message: "Half done" },
    access.value?.needsToken ? API_TOKEN : null,
  );

/** Returns a shell command that starts a run of an agent. */
export const agentHookCommand = (options: Readonly<Record<string, string>>): string =>
  curl("POST", "/hooks/agent", { message: "Say hello", ...options }, HOOKS_TOKEN);

function curl(method: string, path: string, body: object, token: string | null): string {
  const lines = [
    `curl -X ${method} "${location.origin}${path}"`,
    ...(token ? [`-H "Authorization: Bearer $${token}"`] : []),
    '-H "Content-Type: application/json"',
    `-d '${JSON.stringify(body)}'`,
  ];
  return lines.join(" \\\n  ");
}

/** Encodes an identifier for a path within double quotes of a shell. */
const encodeSegment = (id: string): string =>
  encodeURIComponent(id).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
