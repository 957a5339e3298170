import { userInfo } from "node:os";
import type { FreeObject, Gate, GateAction, GateStatus } from "../../../client/client.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanJson, cleanText } from "../../terminal/cleanText.ts";
import { canConfirm, confirm } from "../../terminal/confirm.ts";
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
  { title: "REV", of: ({ revision }) => String(revision), right: true, optional: true },
  { title: "AGE", of: ({ createdAt }) => age(createdAt), right: true },
];

export interface AnswerOptions {
  readonly content?: FreeObject;
  readonly by?: string;
  readonly revision?: number;
  readonly json?: boolean;
}

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

/**
 * `gates answer JOB KEY ACTION`: answers the question of the given revision. Without one, it shows the question at a terminal
 * and asks; a program answers whatever is asked.
 * @throws CommandError unless the user confirms
 */
export function answerGate(
  env: NodeJS.ProcessEnv,
  { jobId, key, action }: { readonly jobId: string; readonly key: string; readonly action: GateAction },
  options: ServiceOptions & AnswerOptions,
): Promise<void> {
  const content = options.content && { content: options.content };
  const answeredBy = options.by ?? userInfo().username;
  return withService(env, options, async ({ client }) => {
    const shown = options.revision === undefined && canConfirm() ? await client.gates.get(jobId, key) : undefined;
    if (shown?.status === "open") await confirmAnswer(shown, action);
    const revision = options.revision ?? shown?.revision;
    const gate = await client.gates.answer(jobId, key, {
      action,
      ...content,
      answeredBy,
      ...(revision !== undefined && { revision }),
    });
    print(options.json ? [cleanJson(gate)] : tableLines([gate], COLUMNS));
  });
}

async function confirmAnswer({ title, message }: Gate, action: GateAction): Promise<void> {
  for (const text of [title, message]) if (text) process.stderr.write(`${cleanText(text)}\n`);
  await confirm(`Answer with ${action}?`, "Nothing was answered.");
}
