import type { JobChange } from "./records/jobs.ts";

/** Returns the variables that an agent run sets for its program; none in a browser. */
export const runEnvironment = (): Readonly<Record<string, string | undefined>> =>
  (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {};

/**
 * Returns the fields of a job with the session of the agent run (`SIGNALBOX_SESSION`) in the place of `self`, so that any token
 * that may name a session can be used. Without a run the service decides what `self` is.
 */
export function withOwnSession<Fields extends Pick<JobChange, "returnTo">>(fields: Fields): Fields {
  const sessionKey = runEnvironment().SIGNALBOX_SESSION;
  const target = Object(fields.returnTo) as { sessionKey?: string };
  const isOwn = (target.sessionKey ?? fields.returnTo) === "self";
  return isOwn && sessionKey ? { ...fields, returnTo: { ...(target.sessionKey && target), sessionKey } } : fields;
}
