import { styleText } from "node:util";
import type { Channel, Client, RunStatus } from "../../../client/client.ts";
import { isObject } from "../../../shared/text/json.ts";
import { type Define, type JsonOptions, serviceCommand, withExamples } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { withService } from "../../service.ts";
import { cleanJson, cleanLine } from "../../terminal/cleanText.ts";
import { age, print, rowLines } from "../../terminal/words.ts";

const ANSWER_WITHIN_MS = 5_000;
/** Maximum number of runs that are counted: the size of one page of the service. */
const MAX_COUNTED = 1_000;

/** One check of /readyz. */
interface Check {
  readonly name: string;
  readonly ok: boolean;
}

/** `status`: prints whether the service is ready, its jobs and runs by status, and its channels. */
export const status: Define = (command, environment) =>
  withExamples(
    serviceCommand(command.option("--json", "print one line of JSON")),
    "signalbox status",
    "signalbox status --json",
  ).action(async (options: JsonOptions) =>
    withService(await environment(), options, async ({ client, url }) => {
      const checks = await readChecks(url);
      const ready = checks.every(isOkOrOptional);
      // A service that is not ready may be unable to read its database.
      const figures = ready ? await readFigures(client) : null;
      if (options.json) print([cleanJson({ url, ready, checks, ...figures })]);
      else print(rowLines([["Address", url], ["State", stateOf(checks)], ...(figures ? figureRows(figures) : [])]));
      if (!ready) process.exitCode = EXIT.failed;
    }),
  );

/** Returns the checks of /readyz. Empty for a service that cannot be reached, or a proxy that hides the endpoint. */
async function readChecks(url: string): Promise<readonly Check[]> {
  try {
    const response = await fetch(`${url}/readyz`, {
      redirect: "manual",
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const body: unknown = await response.json();
    return isObject(body) && Array.isArray(body.checks) ? (body.checks as Check[]) : [];
  } catch {
    return [];
  }
}

/** Returns whether the service works with this result. Without Redis it accepts reports and hooks. */
const isOkOrOptional = ({ name, ok }: Check): boolean => ok || name === "redis";

function stateOf(checks: readonly Check[]): string {
  const failing = checks.filter(({ ok }) => !ok).map(({ name }) => name);
  if (failing.length === 0) return "ready";
  return `${checks.every(isOkOrOptional) ? "degraded" : "not ready"}: ${failing.join(", ")}`;
}

async function readFigures(client: Client) {
  const [{ jobs }, { channels }, queued, waiting, running] = await Promise.all([
    client.stats(),
    client.channels(),
    countRuns(client, "queued"),
    countRuns(client, "waiting"),
    countRuns(client, "running"),
  ]);
  return { jobs, runs: { queued, waiting, running }, channels };
}

async function countRuns(client: Client, status: RunStatus): Promise<number> {
  return (await client.runs.list({ status: [status], limit: MAX_COUNTED })).runs.length;
}

function figureRows({ jobs, runs, channels }: Awaited<ReturnType<typeof readFigures>>): [string, string][] {
  const counted = (count: number) => (count === MAX_COUNTED ? `${MAX_COUNTED} or more` : String(count));
  return [
    ["Jobs", `${jobs.running} running (${jobs.stale} stale), ${jobs.completed} completed, ${jobs.failed} failed`],
    [
      "Runs",
      `${counted(runs.queued)} queued, ${counted(runs.running)} running${runs.waiting > 0 ? `, ${counted(runs.waiting)} waiting for an answer` : ""}`,
    ],
    ...channels.map((channel): [string, string] => ["Channel", channelLines(channel)]),
  ];
}

function channelLines({
  channel,
  state,
  stoppedSince,
  reason,
  nextTryAt,
  pending,
  failed,
  lastFailure,
}: Channel): string {
  const why = failed > 0 && lastFailure ? `: ${cleanLine(lastFailure)}` : "";
  const failures = `${failed} failed in 24 hours${why}`;
  const counts = `${pending} pending, ${failed > 0 ? styleText("red", failures) : failures}`;
  if (state !== "stopped") return `${channel}, ${counts}`;
  const stopped = styleText("red", `stopped${stoppedSince === null ? "" : ` for ${age(stoppedSince)}`}`);
  const next = nextTryAt === null ? "now" : `at ${nextTryAt}`;
  const remedy = `It is tried again ${next}, or with \`signalbox channels resume ${channel}\`.`;
  return [`${channel}, ${stopped}, ${counts}`, cleanLine(reason ?? ""), remedy]
    .filter((line) => line !== "")
    .join("\n");
}
