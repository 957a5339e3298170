import { styleText } from "node:util";
import type { Session } from "../../../client/client.ts";
import { wholeNumber } from "../../arguments.ts";
import { type Define, type JsonOptions, listCommand, serviceCommand, withExamples } from "../../command.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanJson, cleanText } from "../../terminal/cleanText.ts";
import type { Column } from "../../terminal/table.ts";
import { age, print } from "../../terminal/words.ts";
import { type ListOptions, printList, printNote } from "../list.ts";

const COLUMNS: readonly Column<Session>[] = [
  { title: "SESSION", of: ({ sessionKey }) => sessionKey },
  { title: "LAST USED", of: ({ lastUsedAt }) => `${age(lastUsedAt)} ago`, right: true },
  { title: "NOW", of: ({ busy }) => (busy ? "busy" : ""), format: () => "cyan" },
];

/** `sessions list`: prints sessions, last used first. */
export const listSessions: Define = (command, environment) =>
  withExamples(listCommand(command), "signalbox sessions list --limit 20").action(
    async (options: ServiceOptions & ListOptions) =>
      printList(await environment(), options, {
        read: (client, page) => client.sessions.list(page),
        rowsOf: ({ sessions }) => sessions,
        columns: COLUMNS,
        nothing: "There are no sessions.",
      }),
  );

/** `sessions messages KEY`: prints the latest messages, the oldest of them first. */
export const listMessages: Define = (command, environment) =>
  withExamples(
    serviceCommand(
      command
        .argument("<sessionKey>", "key of the session; main is the main session")
        .option("--limit <n>", "maximum number of messages", wholeNumber(1, 1_000), 100)
        .option("--json", "print one line of JSON for each message"),
    ),
    "signalbox sessions messages main --limit 10",
  ).action(async (sessionKey: string, options: JsonOptions & { readonly limit: number }) =>
    withService(await environment(), options, async ({ client }) => {
      const { messages } = await client.sessions.messages(sessionKey, { limit: options.limit });
      if (options.json) return print(messages.map((message) => cleanJson(message)));
      if (messages.length === 0) printNote("The session has no messages.");
      const blocks = messages.map(({ role, content, createdAt }) =>
        [styleText(role === "user" ? "bold" : ["bold", "cyan"], `${role}  ${createdAt}`), cleanText(content)].join(
          "\n",
        ),
      );
      print(blocks.length > 0 ? [blocks.join("\n\n")] : []);
    }),
  );
