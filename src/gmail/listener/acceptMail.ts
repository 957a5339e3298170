import { hash } from "node:crypto";
import { mappedRuns } from "../../hooks/mappings/mappedRuns.ts";
import { type Mapping, mappingsNamed, matchBody } from "../../hooks/mappings/mapping.ts";
import { acceptMappedRuns } from "../../models/hooks/acceptHook.ts";
import { GMAIL_LISTENER, keepOutOfOthers } from "../../models/sessions/sessionOwners.ts";
import type { Stores } from "../../models/stores.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import type { Mail } from "../mail/mail.ts";

/** The name under which mails go to a mapping, and what its `match.source` sees. */
const GMAIL = "gmail";

/**
 * The run that a mail becomes, or one of them. It rests on nothing but the mail, so that a mail that is seen again, by
 * whomever, becomes the same run.
 */
export function mailRunId(account: string, messageId: string, index = 0): string {
  const digest = hash("sha256", JSON.stringify([account.toLowerCase(), messageId, index]), "hex");
  const [, a, b, c, d, e] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(digest) ?? [];
  return `${a}-${b}-8${c}-8${d}-${e}`; // a UUID of a kind of our own (RFC 9562, version 8)
}

/**
 * Hands a mail to the mapping that takes it, as a request to `/hooks/gmail` that no one has sent; durable when it resolves.
 * @returns the runIds, to be put on their queue
 * @throws AppError invalid_body, body_too_large for a mail that its mapping cannot take; unavailable
 */
export async function acceptMail(
  { stores, hooks, mappings }: { stores: Stores; hooks: Config["hooks"]; mappings: readonly Mapping[] },
  account: string,
  mail: Mail,
  now: Date,
): Promise<string[]> {
  const payload = { source: GMAIL, account, messages: [mail] };
  const mapping = matchBody(mappingsNamed(mappings, GMAIL), payload);
  if (!mapping) throw new Error("no mapping takes mails"); // the configuration is checked for one
  const call = { headers: {}, url: `${hooks.path}/${GMAIL}`, path: GMAIL, query: {}, payload };
  const { runs: wanted, shared } = mappedRuns(mapping, call, hooks, now);
  const runs = hooks.shareSessions ? wanted : await keepOutOfOthers(stores, wanted, GMAIL_LISTENER);
  const named = runs.map((run, index) => ({ ...run, runId: mailRunId(account, mail.id, index) }));
  return (await acceptMappedRuns(stores, { runs: named, shared })).runIds;
}
