import { BASE_PATH } from "../basePath.ts";
import { access } from "./access.ts";
import { API_TOKEN, curl, HOOKS_TOKEN, type NeededToken } from "./onboarding/steps.ts";

/** A shell command, without the token that it needs. */
export interface ShellCommand {
  readonly text: string;
  /** The environment variable that the command takes the token from, and the setting that holds the token. */
  readonly token: { readonly variable: string; readonly setting: string } | null;
}

/** Returns the address of this service. */
export const serviceUrl = (): string => location.origin + BASE_PATH;

/** Returns the address of the hooks: where they would be, while they are off. */
export function hooksUrl(): string {
  const url = access.value?.hooksUrl ?? `${BASE_PATH}/hooks`;
  return url.startsWith("/") ? location.origin + url : url;
}

/** Returns the token that the API needs, if it needs one. */
export const neededApiToken = (): NeededToken | null => (access.value?.needsToken ? API_TOKEN : null);

const withToken = (method: string, url: string, body: object, token: NeededToken | null): ShellCommand => ({
  text: curl(method, url, body, token),
  token,
});

/** Returns a shell command that reports the first step of a job. */
export const reportStepCommand = (jobId: string): ShellCommand =>
  withToken(
    "PUT",
    `${serviceUrl()}/api/jobs/${encodeSegment(jobId)}/steps/first-step`,
    { stepName: "First step", progress: 50, message: "Half done" },
    neededApiToken(),
  );

/** A shell command that checks the credentials of all channels. */
export const CHECK_CHANNELS: ShellCommand = { text: "npx signalbox channels check", token: null };

/** A shell command that tests the first rule of the guide. */
export const TEST_RULE: ShellCommand = { text: "npx signalbox notify test ops --wait", token: null };

/** Returns a shell command that starts a run of an agent. */
export const agentHookCommand = (options: Readonly<Record<string, string>>): ShellCommand =>
  withToken("POST", `${hooksUrl()}/agent`, { message: "Say hello", ...options }, HOOKS_TOKEN);

/** Encodes an identifier for a path within double quotes of a shell. */
const encodeSegment = (id: string): string =>
  encodeURIComponent(id).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
