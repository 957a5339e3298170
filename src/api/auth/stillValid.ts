import type { Stores } from "../../models/stores.ts";
import { type Caller, jobOf } from "./caller.ts";

/** The part of a caller by which its right can end while a request is answered. */
export type EndingAccess = Pick<Caller, "cookie" | "grants" | "expiresAt">;

/**
 * Returns whether the right of a caller has not ended since its request was authenticated: by a log-out, or with the job of its
 * job token. Its expiry is a matter of time alone.
 * @throws AppError unavailable
 */
export async function stillValid(
  { jobs, endedLogins }: Pick<Stores, "jobs" | "endedLogins">,
  { cookie, grants }: EndingAccess,
): Promise<boolean> {
  if (cookie !== undefined && (await endedLogins.has(cookie))) return false;
  const own = jobOf({ grants });
  return !own || jobs.exists(own);
}
