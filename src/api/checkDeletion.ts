import type { Config } from "../config/config.ts";
import { AppError } from "../shared/errors.ts";

/**
 * Checks that a deletion of jobs without a filter is meant and allowed.
 * @param query the filter, and `all`
 * @param policy `jobs.deleteAll` of the configuration
 * @throws AppError invalid_query, deletion_forbidden
 */
export function checkDeletion(
  { all, ...filter }: { readonly all?: boolean },
  policy: Config["jobs"]["deleteAll"],
): void {
  if (Object.keys(filter).length > 0) {
    if (all) throw invalidAll("must not be combined with filters: leave it out to delete the jobs that match them");
    return;
  }
  if (policy === "forbid") {
    const detail =
      "This service does not delete jobs without a filter (`jobs.deleteAll` is `forbid`). Send a filter, such as `status=failed`.";
    throw new AppError("deletion_forbidden", { detail });
  }
  if (all === false || (policy === "require-all" && !all)) {
    throw invalidAll("must be true to delete every job: send `?all=true`, or a filter such as `status=failed`");
  }
}

const invalidAll = (detail: string) =>
  new AppError("invalid_query", { detail: `all ${detail}.`, errors: [{ parameter: "all", detail }] });
