import { storedNameKey } from "../../db/nameSearch.ts";
import type { Status } from "../job.ts";
import type { JobScope } from "../jobScope.ts";
import type { Jobs } from "../jobs.ts";
import { jobQuery, scopeQuery } from "./jobFilter.ts";

/**
 * Returns when the newest job whose name begins with a text was created.
 * @returns undefined if none was created after a time
 */
export async function findNewest({ collection }: Jobs, name: string, after: Date): Promise<Date | undefined> {
  const query = { $and: [jobQuery({ name }, after), { createdAt: { $gt: after } }] };
  const options = { projection: { createdAt: 1 }, sort: { createdAt: -1 }, limit: 1 } as const;
  const [newest] = await collection.find(query, options);
  return newest?.createdAt;
}

/** Maximum jobs of one name among which the newest ended one is looked for, so that a storm of running ones costs nothing more. */
const MAX_LOOKED_AT = 50;

/** The newest job of a name that has ended; while none has, a running one. */
export interface NewestJob {
  readonly status: Status;
  readonly endedAt: Date | null;
  readonly isCancelled: boolean;
}

/**
 * Returns the newest ended job with exactly a name; null if there is no job of that name.
 * @param scope the jobs to look at
 */
export async function newestOfName({ collection }: Jobs, name: string, scope?: JobScope): Promise<NewestJob | null> {
  const query = { ...(scope && scopeQuery(scope)), nameKey: storedNameKey(name) };
  const projection = { status: 1, endedAt: 1, "cancel.requestedAt": 1 } as const;
  const found = await collection.find(query, { projection, sort: { createdAt: -1, _id: -1 }, limit: MAX_LOOKED_AT });
  const newest = found.toSorted((a, b) => (b.endedAt?.getTime() ?? 0) - (a.endedAt?.getTime() ?? 0))[0];
  if (!newest) return null;
  const { status, endedAt, cancel } = newest;
  return { status, endedAt, isCancelled: status === "failed" && cancel !== undefined };
}
