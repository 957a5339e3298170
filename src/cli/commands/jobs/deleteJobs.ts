import { type Client, type JobFilter, SignalboxError } from "../../../client/client.ts";
import { given } from "../../arguments.ts";
import { type Define, serviceCommand, withExamples } from "../../command.ts";
import { CommandError, EXIT } from "../../exit.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanLine } from "../../terminal/cleanText.ts";
import { canConfirm, confirm } from "../../terminal/confirm.ts";
import { print } from "../../terminal/words.ts";
import { printNote } from "../list.ts";
import { type FilterOptions, filterOf, isFiltered, withFilters } from "./filter.ts";

type DeleteOptions = ServiceOptions & FilterOptions & { readonly all?: boolean; readonly yes?: boolean };

/** `jobs delete`: deletes the named jobs, or, after confirmation, those that match the filter, or all of them with `all`. */
export const deleteJobs: Define = (command, environment) =>
  withExamples(
    serviceCommand(
      withFilters(
        command
          .argument("[jobId...]", "ids of the jobs")
          .option("--all", "delete every job")
          .option("--yes", "do not ask for confirmation"),
      ),
    ),
    "signalbox jobs delete report-6 report-7",
    "signalbox jobs delete --status completed --updated-before 30d --yes",
  ).action(async (jobIds: readonly string[], options: DeleteOptions) => {
    const filter = filterOf(options);
    const ways = [jobIds.length > 0, isFiltered(filter), options.all === true].filter(Boolean);
    if (ways.length !== 1) {
      throw new CommandError(
        EXIT.usage,
        "Select jobs in one way: by ids, by filters such as --status failed, or with --all.",
      );
    }
    return withService(await environment(), options, async ({ client }) => {
      if (jobIds.length > 0) return deleteNamed(client, jobIds);
      const count = await countUpTo(client, filter);
      if (count === 0) return printNote("No jobs match: nothing was deleted.");
      const question = `Delete ${count > MOST ? `more than ${MOST} jobs` : jobsInWords(count)}, with their steps?`;
      if (!options.yes && !canConfirm())
        throw new CommandError(EXIT.usage, `${question} There is no terminal to confirm it: pass --yes.`);
      if (!options.yes) await confirm(question, "Nothing was deleted.");
      // deleteAll refuses fields that are undefined
      const { deleted } = await client.jobs.deleteAll(isFiltered(filter) ? given(filter) : { all: true });
      print([`deleted ${jobsInWords(deleted)}`]);
    });
  });

async function deleteNamed(client: Client, jobIds: readonly string[]): Promise<void> {
  const missing: string[] = [];
  for (const jobId of jobIds) {
    try {
      await client.jobs.delete(jobId);
      print([`deleted ${cleanLine(jobId)}`]);
    } catch (error) {
      if (!(error instanceof SignalboxError) || error.code !== "job_not_found") throw error;
      missing.push(jobId);
    }
  }
  if (missing.length > 0) throw new CommandError(EXIT.service, `These jobs do not exist: ${missing.join(", ")}.`);
}

const MOST = 1_000;
const jobsInWords = (count: number) => (count === 1 ? "1 job" : `${count} jobs`);

/** Returns the number of matching jobs, at most MOST + 1. */
async function countUpTo(client: Client, filter: JobFilter): Promise<number> {
  const { jobs, nextCursor } = await client.jobs.list({ ...filter, limit: MOST, fields: ["status"] });
  return nextCursor === null ? jobs.length : MOST + 1;
}
