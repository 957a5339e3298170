import type { Stores } from "../../models/stores.ts";
import type { Caller } from "./caller.ts";

/** The part of a caller by which its right can end while a request is answered. */
export type EndingAccess = Pick<Caller, "login" | "jobs" | "expiresAt">;

/**
 * Returns whether the right of a caller has not ended since its request was authenticated: by a log-out, or with the job of its
 * job token. Its expiry is a matter of time alone.
 * @throws AppError unavailable
 */
export async function stillValid(
  { jobs: store, endedLogins }: Pick<Stores, "jobs" | "endedLogins">,
  { login, jobs }: EndingAccess,
): Promise<boolean> {
  if (login && (await endedLogins.has(login.cookie))) return false;
  return !(jobs && "jobId" in jobs) || store.exists(jobs);
}
