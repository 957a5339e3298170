import { hookRequestCalls } from "../../../client/calls/hookRequests.ts";
import { pageCalls } from "../../../client/calls/page.ts";
import type { HookRequestRow } from "../../../wire/hookRequest.ts";
import type { ConfiguredMapping } from "../../../wire/settings.ts";
import { type Define, type JsonOptions, tableCommand, withExamples } from "../../command.ts";
import { withService } from "../../service.ts";
import { cleanJson } from "../../terminal/cleanText.ts";
import { type Column, tableLines } from "../../terminal/table.ts";
import { age, formatOf, print } from "../../terminal/words.ts";
import { printNote } from "../list.ts";

/** A mapping with its newest kept request; null if none is kept. */
type Row = ConfiguredMapping & { readonly lastRequest: HookRequestRow | null };

const COLUMNS: readonly Column<Row>[] = [
  { title: "MAPPING", of: ({ mapping }) => mapping, least: 8 },
  { title: "ACTION", of: ({ action }) => action },
  { title: "PRESET", of: ({ preset }) => preset },
  { title: "LAST REQUEST", of: ({ lastRequest }) => lastRequest && `${age(lastRequest.createdAt)} ago` },
  {
    title: "OUTCOME",
    of: ({ lastRequest }) => lastRequest?.outcome ?? null,
    format: ({ lastRequest }) => formatOf(lastRequest?.outcome ?? ""),
  },
  { title: "ADDRESS", of: ({ address }) => address, least: 8 },
];

/** `hooks list`: prints the mappings in the order in which they are tried, each with its newest kept request. */
export const listHooks: Define = (command, environment) =>
  withExamples(tableCommand(command), "signalbox hooks list").action(
    async (options: JsonOptions & { readonly wide?: boolean }) =>
      withService(await environment(), options, async ({ client }) => {
        const { mappings } = await pageCalls(client.call).settings();
        const requests = hookRequestCalls(client.call);
        const rows: Row[] = [];
        for (const mapping of mappings) {
          const { requests: newest } = await requests.list({ mapping: mapping.mapping, limit: 1 });
          rows.push({ ...mapping, lastRequest: newest[0] ?? null });
        }
        if (options.json) return print(rows.map((row) => cleanJson(row)));
        if (rows.length === 0) return printNote("No mappings are configured: see hooks.mappings and hooks.presets.");
        print(tableLines(rows, COLUMNS, { wide: options.wide }));
      }),
  );
