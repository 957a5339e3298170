import type { TestApp } from "../support/app.ts";
import { createJob } from "../support/factories.ts";

/** Inserts jobs named `Job 1` (the oldest) to `Job N`, a second apart, as copies of one that the API created. */
export async function manyJobs(app: TestApp, length: number): Promise<void> {
  const { jobId, path } = await createJob(app);
  const { collection } = app.stores.jobs;
  const like = await collection.findOne({ jobId });
  if (!like) throw new Error("the API created no job");
  const { _id, ...fields } = like;
  await app.call("DELETE", path);
  const begin = Date.now() - length * 1_000;
  const jobs = Array.from({ length }, (_, at) => {
    const time = new Date(begin + at * 1_000);
    const name = `Job ${at + 1}`;
    const same = {
      ...fields,
      jobId: `many-${at + 1}`,
      name,
      nameKey: name.toLowerCase(),
      nameWords: name.toLowerCase().split(" "),
      createdAt: time,
      updatedAt: time,
    };
    return { insertOne: { document: same as never } };
  });
  await collection.bulkWrite(jobs, { ordered: false });
}
