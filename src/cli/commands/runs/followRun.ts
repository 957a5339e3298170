import { setTimeout as pause } from "node:timers/promises";
import type { Run } from "../../../client/client.ts";
import { type Define, type JsonOptions, serviceCommand, withExamples } from "../../command.ts";
import { EXIT } from "../../exit.ts";
import { type Service, withService } from "../../service.ts";
import { cleanJson, cleanLine, cleanText } from "../../terminal/cleanText.ts";
import { untilInterrupted } from "../../terminal/interrupt.ts";
import { LiveBlock } from "../../terminal/liveBlock.ts";
import { RunText } from "../../terminal/runText.ts";
import { age, print } from "../../terminal/words.ts";
import { printNote, SERVICE_LOST } from "../list.ts";

/** Interval at which the state of a run that has not ended is read and printed; its end is noticed at once. */
const STATE_MS = 2_000;

/** `runs watch ID`: follows a run to its end and prints its reply. Exits with EXIT.failed unless it is completed. */
export const watchRun: Define = (command, environment) =>
  withExamples(
    serviceCommand(
      command.argument("<runId>", "id of the run").option("--json", "print the ended run as one line of JSON"),
    ),
    "signalbox runs watch 0198c2b4-7a10-7c3e-9d6f-2f8f3b1c5e77",
  ).action(async (runId: string, options: JsonOptions) =>
    withService(await environment(), options, async (service) => {
      await service.client.runs.get(runId); // this client does not retry, so that errors are reported at once
      await followRun(service, runId, options);
    }),
  );

/** Follows a run to its end, through restarts of the service, and prints its reply, or the run as JSON. */
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
    if (run.replyCutOff) printNote("The reply is cut off: the model reached its length limit.");
    if (run.error) printNote(`The run ${run.status} (${run.error.code}): ${cleanLine(run.error.message)}`);
    else if (run.status !== "completed") printNote(`The run was ${run.status}.`);
  });
}

async function untilEnd(service: Service, runId: string, signal: AbortSignal): Promise<Run> {
  let run: Run | undefined;
  let isAway = false;
  const line = () => (isAway ? SERVICE_LOST : run && !run.endedAt ? stateLine(run) : "");
  const shown = new RunText();
  const lines = () => [...(run?.endedAt || isAway ? [] : shown.lines()), line()].filter(Boolean);
  const block = process.stdout.isTTY ? new LiveBlock(lines) : undefined;
  let lastState = "";
  const showState = () => {
    const now = isAway ? SERVICE_LOST : (run?.status ?? "");
    if (block) block.changed();
    else if (now !== lastState && line()) printNote(line());
    lastState = now;
  };
  const client = service.retrying(() => {
    isAway = true;
    showState();
  });
  const over = new AbortController();
  const showStates = async () => {
    for (;;) {
      run = await client.runs.get(runId, { signal: over.signal });
      isAway = false;
      showState();
      await pause(STATE_MS, undefined, { signal: over.signal });
    }
  };
  const showEvents = async () => {
    for await (const event of client.watchRun(runId, { signal: over.signal })) {
      shown.take(event);
      if (block) block.changed();
      else if (event.type === "tool.started") printNote(`tool ${cleanLine(event.data.tool)}`);
    }
  };
  const ended = client.runs.wait(runId, { signal });
  try {
    showEvents().catch(() => {}); // a sender may have only the hook token, which does not permit it
    showStates().catch(() => {}); // the wait fails for the same reason
    run = await ended;
    isAway = false;
    return run;
  } finally {
    over.abort();
    block?.close();
  }
}

const stateLine = ({ runId, status, attempts, createdAt }: Run): string =>
  `${cleanLine(runId)}  ${status}  ${age(createdAt)}${attempts > 1 ? `  (attempt ${attempts})` : ""}`;
