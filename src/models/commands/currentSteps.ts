import type { JobDoc } from "../job.ts";
import { reading } from "../newPrimary.ts";
import type { StepDoc } from "../step.ts";
import type { Stores } from "../stores.ts";

/** The current step of each job that has one, keyed by internal job id; reads one step of each, whatever else it has. */
export async function findCurrentSteps(
  { jobs, steps }: Pick<Stores, "jobs" | "steps">,
  page: readonly Pick<JobDoc, "_id">[],
): Promise<Map<string, StepDoc>> {
  const newestRunning = [
    { $match: { status: "running" } },
    { $sort: { reportedAt: -1 } },
    { $limit: 1 },
    { $project: { output: 0 } },
  ];
  const pipeline = [
    { $match: { _id: { $in: page.map((job) => job._id) } } },
    { $project: { _id: 1 } },
    {
      $lookup: {
        from: steps.collection.collectionName,
        localField: "_id",
        foreignField: "job",
        pipeline: newestRunning,
        as: "current",
      },
    },
    { $unwind: "$current" },
    { $replaceRoot: { newRoot: "$current" } },
  ];
  const found = await reading(jobs.collection, () => jobs.collection.aggregate<StepDoc>(pipeline).toArray());
  return new Map(found.map((step) => [step.job.toHexString(), step]));
}
