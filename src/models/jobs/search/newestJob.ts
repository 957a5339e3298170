import type { Jobs } from "../jobs.ts";
import { jobQuery } from "./jobFilter.ts";

/**
 * Returns when the newest job whose name begins with a text was created.
 * @returns undefined if none was created after a time
 * @throws AppError unavailable
 */
export async function findNewest({ collection }: Jobs, name: string, after: Date): Promise<Date | undefined> {
  const query = { $and: [jobQuery({ name }, after), { createdAt: { $gt: after } }] };
  const options = { projection: { createdAt: 1 }, sort: { createdAt: -1 }, limit: 1 } as const;
  const [newest] = await collection.find(query, options);
  return newest?.createdAt;
}
