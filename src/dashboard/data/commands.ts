import { BASE_PATH } from "../basePath.ts";
import { access } from "./access.ts";

/** A shell command, without the token that it needs. */
export interface ShellCommand {
  readonly text: string;
  /** The environment variable that the command takes the token from, and the setting that holds the token. */
  readonly token: { readonly variable: string; readonly setting: string } | null;
}

const API_TOKEN = { variable: "SIGNALBOX_API_TOKEN", setting: "server.apiToken" };
const HOOKS_TOKEN = { variable: "SIGNALBOX_HOOKS_TOKEN", setting: "hooks.token" };

/** Returns a shell command that creates a job. */
export const createJobCommand = (): ShellCommand =>
  curl("PUT", "/api/jobs/my-job", { name: "My first job" }, access.value?.needsToken ? API_TOKEN : null);

/** Returns a shell command that reports the first step of a job. */
export const reportStepCommand = (jobId: string): ShellCommand =>
  curl(
    "PUT",
    `/api/jobs/${encodeSegment(jobId)}/steps/first-step`,
    { stepName: "First step", progress: 50, message: "Half done" },
    access.value?.needsToken ? API_TOKEN : null,
  );

/** A shell command that checks the credentials of all channels. */
export const CHECK_CHANNELS: ShellCommand = { text: "npx signalbox channels check", token: null };

/** Returns a shell command that starts a run of an agent. */
export const agentHookCommand = (options: Readonly<Record<string, string>>): ShellCommand =>
  curl("POST", "/hooks/agent", { message: "Say hello", ...options }, HOOKS_TOKEN);

function curl(method: string, path: string, body: object, token: ShellCommand["token"]): ShellCommand {
  const lines = [
    `curl -X ${method} "${location.origin}${BASE_PATH}${path}"`,
    ...(token ? [`-H "Authorization: Bearer $${token.variable}"`] : []),
    '-H "Content-Type: application/json"',
    `-d '${JSON.stringify(body)}'`,
  ];
  return { text: lines.join(" \\\n  "), token };
}

/** Encodes an identifier for a path within double quotes of a shell. */
const encodeSegment = (id: string): string =>
  encodeURIComponent(id).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
