import { JOB_SUMMARY } from "../../../client/calls/jobSummary.ts";
import type { Client, JobFilter, JobSummary } from "../../../client/client.ts";
import { type Define, serviceCommand, withExamples } from "../../command.ts";
import { CommandError, EXIT } from "../../exit.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { untilInterrupted } from "../../terminal/interrupt.ts";
import { barView, boardView, type JobView, jsonView, lineView } from "../../terminal/jobViews.ts";
import { LiveJobs } from "../../terminal/liveJobs.ts";
import { type FilterOptions, filterOf, isFiltered, withFilters } from "./filter.ts";

interface WatchOptions {
  /** Whether to print JSON, one line for each event. */
  readonly json?: boolean;
}

/**
 * `jobs watch`: follows one job to its end, or many until it is interrupted. After the first read it survives restarts of
 * the service. Exits with EXIT.failed if the one job fails.
 */
export const watchJobs: Define = (command, environment) =>
  withExamples(
    serviceCommand(
      withFilters(
        command
          .argument("[jobId]", "id of the job (default: all running jobs, or those that match the filters)")
          .option("--json", "print one line of JSON for each change"),
      ),
    ),
    "signalbox jobs watch report-7",
    "signalbox jobs watch --name nightly",
    "signalbox jobs watch report-7 --json",
  ).action(async (jobId: string | undefined, options: ServiceOptions & FilterOptions & WatchOptions) => {
    const filter = filterOf(options);
    if (jobId !== undefined && isFiltered(filter)) {
      throw new CommandError(EXIT.usage, "Pass a job id or filters, not both.");
    }
    const read = jobId === undefined ? readMany(filter) : readOne(jobId);
    return withService(await environment(), options, ({ client, retrying }) =>
      untilInterrupted(async (signal) => {
        await read(client, signal); // this client does not retry, so that errors are reported at once
        const what = jobId === undefined ? { topics: ["jobs" as const], filter } : { job: jobId };
        const retryingClient = retrying();
        const jobs = new LiveJobs();
        const view = viewOf(jobs, options, jobId === undefined);
        try {
          for await (const { type, data } of retryingClient.watch({ ...what, signal })) {
            if (type === "state") view.live(data.live);
            if (type === "reload" || (type === "state" && data.live)) {
              for (const job of jobs.load(await read(retryingClient, signal))) view.changed(job);
            } else if (type === "job") {
              // The event of the end does not contain the output, so the job is read.
              const isEnd = jobId !== undefined && data.status !== "running";
              for (const job of isEnd ? await read(retryingClient, signal) : [data])
                if (jobs.take(job)) view.changed(job);
            } else if (type === "job_removed") {
              if (jobId !== undefined) throw new CommandError(EXIT.service, "The job was deleted.");
              if (jobs.remove(data.jobId)) view.removed(data.jobId);
            }
            const [end] = jobId === undefined ? [] : jobs.ended;
            if (end?.status === "failed") process.exitCode = EXIT.failed;
            if (end) return;
          }
        } finally {
          view.close();
        }
      }),
    );
  });

type Read = (client: Client, signal: AbortSignal) => Promise<readonly JobSummary[]>;

const readOne =
  (jobId: string): Read =>
  async (client, signal) => [await client.jobs.get(jobId, {}, { signal })];

/** Reads the newest running jobs, or those with the filter's status. Others appear once they change. */
const readMany =
  (filter: JobFilter): Read =>
  async (client, signal) => {
    const { status = "running" } = filter;
    const { jobs } = await client.jobs.list({ ...filter, status, limit: MOST, fields: JOB_SUMMARY }, { signal });
    return jobs;
  };

const MOST = 1_000;

function viewOf(jobs: LiveJobs, { json }: WatchOptions, many: boolean): JobView {
  if (json) return jsonView();
  if (!process.stdout.isTTY) return lineView();
  return many ? boardView(jobs) : barView(jobs);
}
