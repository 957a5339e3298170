import { userInfo } from "node:os";
import type { FreeObject, Gate, GateAction, GateStatus } from "../../../client/client.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanJson } from "../../terminal/cleanText.ts";
import { type Column, tableLines } from "../../terminal/table.ts";
import { age, formatOf, print } from "../../terminal/words.ts";
import { type ListOptions, printList } from "../list.ts";

const COLUMNS: readonly Column<Gate>[] = [
  { title: "JOB ID", of: ({ jobId }) => jobId, optional: true },
  { title: "KEY", of: ({ key }) => key },
  { title: "QUESTION", of: ({ title }) => title, least: 12 },
  { title: "STATUS", of: ({ status }) => status, format: ({ status }) => formatOf(status) },
  { title: "ACTION", of: ({ action }) => action },
  { title: "BY", of: ({ answeredBy }) => answeredBy, least: 6 },
  { title: "AGE", of: ({ createdAt }) => age(createdAt), right: true },
];

/** `gates list`: prints gates, newest first; the open ones unless a status is given. */
export function listGates(
  env: NodeJS.ProcessEnv,
  options: ServiceOptions & ListOptions & { readonly status?: readonly GateStatus[] },
): Promise<void> {
  const { status = ["open"] } = options;
  return withService(env, options, ({ client }) =>
    printList<Gate>(
      options,
      async (page) => {
        const { gates, nextCursor } = await client.gates.list({ status, ...page });
        return { rows: gates, nextCursor };
      },
      COLUMNS,
      options.status ? "No gates match." : "No gate waits for an answer.",
    ),
  );
}

/** `gates answer JOB KEY ACTION` */
export function answerGate(
  env: NodeJS.ProcessEnv,
  { jobId, key, action }: { readonly jobId: string; readonly key: string; readonly action: GateAction },
  options: ServiceOptions & { readonly content?: FreeObject; readonly by?: string; readonly json?: boolean },
): Promise<void> {
  const content = options.content && { content: options.content };
  const answeredBy = options.by ?? userInfo().username;
  return withService(env, options, async ({ client }) => {
    const gate = await client.gates.answer(jobId, key, { action, ...content, answeredBy });
    print(options.json ? [cleanJson(gate)] : tableLines([gate], COLUMNS));
  });
}
