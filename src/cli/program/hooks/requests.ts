import type { Command } from "commander";
import type { RequestOutcome } from "../../../client/client.ts";
import type { RequestFilter } from "../../commands/hooks/requests.ts";
import type { ListOptions } from "../../commands/list.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { choicesOption, listCommand, serviceCommand, timeOrAge, wholeNumber } from "../arguments.ts";
import type { Environment } from "../environment.ts";
import { withExamples } from "../examples.ts";

const OUTCOMES: readonly RequestOutcome[] = ["accepted", "dropped", "failed", "filtered", "refused"];
const ID = "b4a0c1de-5a7e-4d63-9a45-3f1f1c0e7a21";

/** `hooks requests …` */
export function addRequests(hooks: Command, environment: Environment): void {
  const requests = hooks
    .command("requests")
    .description("List, read and replay the requests to hooks that the service has kept (hooks.keepRequests).");
  withExamples(requests, "signalbox hooks requests list --outcome refused");

  const list = requests
    .command("list")
    .description("List kept requests, newest first.")
    .option("--mapping <name>", "only requests that this mapping took or filtered")
    .addOption(choicesOption("--outcome <outcome>", "only requests with this outcome", OUTCOMES))
    .option("--status <code>", "only requests that were answered with this HTTP status", wholeNumber(100, 599))
    .option("--from <time>", "only requests from this time on, such as 2026-01-31, yesterday or 2h", timeOrAge)
    .option("--before <time>", "only requests before this time", timeOrAge)
    .action(async (options: ServiceOptions & ListOptions & RequestFilter) => {
      const { listRequests } = await import("../../commands/hooks/requests.ts");
      await listRequests(await environment(), options);
    });
  withExamples(
    listCommand(list),
    "signalbox hooks requests list --outcome refused",
    "signalbox hooks requests list --mapping github --outcome filtered --json",
  );

  const show = requests
    .command("show")
    .argument("<requestId>", "id of the request")
    .description("Print a kept request with its headers and its body.")
    .option("--json", "print one line of JSON")
    .action(async (requestId: string, options: ServiceOptions & { readonly json?: boolean }) => {
      const { showRequest } = await import("../../commands/hooks/requests.ts");
      await showRequest(await environment(), requestId, options);
    });
  withExamples(serviceCommand(show), `signalbox hooks requests show ${ID}`);

  const replay = requests
    .command("replay")
    .argument("<requestId>", "id of the request")
    .description("Start new runs from a kept request, with the current configuration.")
    .option("--mapping <name>", "mapping to apply (default: the first that matches)")
    .option("--dry-run", "only print what would start, without the transform of the mapping")
    .option("--json", "print one line of JSON")
    .action(
      async (
        requestId: string,
        options: ServiceOptions & { readonly mapping?: string; readonly dryRun?: boolean; readonly json?: boolean },
      ) => {
        const { replayRequest } = await import("../../commands/hooks/requests.ts");
        await replayRequest(await environment(), requestId, options);
      },
    );
  withExamples(
    serviceCommand(replay),
    `signalbox hooks requests replay ${ID}`,
    `signalbox hooks requests replay ${ID} --mapping triage --dry-run`,
  );
}
