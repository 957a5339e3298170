import type { TestApp } from "./app.ts";

/**
 * Returns the commands that MongoDB executes meanwhile, in order: those on the jobs, or on all collections, with the name of the
 * collection.
 */
export async function commandsOf(
  { database }: Pick<TestApp, "database">,
  act: () => Promise<unknown>,
  of: "jobs" | "all" = "jobs",
): Promise<string[]> {
  const { jobs } = database.collections;
  const { db } = jobs;
  await db.setProfilingLevel("all");
  try {
    await act();
  } finally {
    await db.setProfilingLevel("off");
  }
  const entries = await db
    .collection<{ op: string; ns: string }>("system.profile")
    .find({ ns: of === "jobs" ? jobs.namespace : { $ne: `${db.databaseName}.system.profile` } })
    .sort({ ts: 1 })
    .toArray();
  await db.dropCollection("system.profile");
  return entries.map(({ op, ns }) => (of === "jobs" ? op : `${op} ${ns.slice(db.databaseName.length + 1)}`));
}
