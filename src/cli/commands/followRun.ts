import { setTimeout as pause } from "node:timers/promises";
import type { Run } from "../../client/client.ts";
import { EXIT } from "../exit.ts";
import { type Service, type ServiceOptions, withService } from "../service.ts";
import { cleanJson, cleanLine, cleanText } from "../terminal/cleanText.ts";
import { untilInterrupted } from "../terminal/interrupt.ts";
import { LiveBlock } from "../terminal/liveBlock.ts";
import { age, print } from "../terminal/words.ts";
import { printNote, SERVICE_LOST } from "./list.ts";

/** The hook token opens a run and no live events, and whoever sends a hook may have no other: so the run is asked for. */
const LOOK_MS = 500;

/** `runs watch ID`: to its end; the reply on standard output, EXIT.failed unless it is completed. */
export function watchRun(
  env: NodeJS.ProcessEnv,
  runId: string,
  options: ServiceOptions & { readonly json?: boolean },
): Promise<void> {
  return withService(env, options, async (service) => {
    await service.client.runs.get(runId); // what is wrong with the command, or with the service, is told at once
    await followRun(service, runId, options);
  });
}

/** Follows a run to its end and prints its reply, or as JSON the run; outlives restarts of the service. */
export function followRun(
  service: Service,
  runId: string,
  { json = false }: { readonly json?: boolean },
): Promise<void> {
  return untilInterrupted(async (signal) => {
    const run = await untilEnd(service, runId, signal);
    if (run.status !== "completed") process.exitCode = EXIT.failed;
    if (json) print([cleanJson(run)]);
    else if (run.reply) print([cleanText(run.reply)]);
    if (run.error) printNote(`The run ${run.status} (${run.error.code}): ${cleanLine(run.error.message)}`);
    else if (run.status !== "completed") printNote(`The run was ${run.status}.`);
  });
}

async function untilEnd(service: Service, runId: string, signal: AbortSignal): Promise<Run> {
  let run: Run | undefined;
  let isAway = false;
  const line = () => (isAway ? SERVICE_LOST : run && !run.endedAt ? stateLine(run) : "");
  const block = process.stdout.isTTY ? new LiveBlock(() => [line()].filter(Boolean)) : undefined;
  let told = "";
  const tell = () => {
    const now = isAway ? SERVICE_LOST : (run?.status ?? "");
    if (block) block.changed();
    else if (now !== told && line()) printNote(line());
    told = now;
  };
  const client = service.retrying(() => {
    isAway = true;
    tell();
  });
  try {
    for (;;) {
      run = await client.runs.get(runId, { signal });
      isAway = false;
      tell();
      if (run.endedAt) return run;
      await pause(LOOK_MS, undefined, { signal });
    }
  } finally {
    block?.close();
  }
}

const stateLine = ({ runId, status, attempts, createdAt }: Run): string =>
  `${cleanLine(runId)}  ${status}  ${age(createdAt)}${attempts > 1 ? `  (try ${attempts})` : ""}`;
