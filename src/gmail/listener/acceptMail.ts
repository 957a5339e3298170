import { hash, randomUUID } from "node:crypto";
import type { Config } from "../../config/config.ts";
import { mappedRuns } from "../../hooks/mappings/mappedRuns.ts";
import { type Mapping, mappingsNamed } from "../../hooks/mappings/mapping.ts";
import { selectMapping } from "../../hooks/mappings/selectMapping.ts";
import { acceptMappedRuns } from "../../models/intake/acceptHook.ts";
import type { NewHookRequest } from "../../models/intake/hookRequest.ts";
import { GMAIL_LISTENER, withoutForeignSessions } from "../../models/intake/sessionOwners.ts";
import type { Stores } from "../../models/stores.ts";
import { toJson } from "../../shared/text/json.ts";
import type { Mail } from "../mail/mail.ts";

/** The path of the mapping for mails, and their `source` in `match.source`. */
const SOURCE = "gmail";

/**
 * Returns the id of a run created from a mail; `index` distinguishes several. It depends only on the mail, so that a mail
 * that is imported again, by any process, yields the same run.
 */
export function mailRunId(account: string, messageId: string, index = 0): string {
  const digest = hash("sha256", JSON.stringify([account.toLowerCase(), messageId, index]), "hex");
  const [, a, b, c, d, e] = /^(.{8})(.{4}).(.{3}).(.{3})(.{12})/.exec(digest) ?? [];
  return `${a}-${b}-8${c}-8${d}-${e}`; // a custom UUID (RFC 9562, version 8)
}

/**
 * Applies the matching mapping to a mail, as if the mail were a request to `/hooks/gmail`, and stores the runs. They are
 * durable when the promise resolves.
 * @returns the ids of the runs, for the caller to enqueue
 * @throws AppError invalid_body or body_too_large if the mapping cannot process the mail; unavailable
 */
export async function acceptMail(
  { stores, hooks, mappings }: { stores: Stores; hooks: Config["hooks"]; mappings: readonly Mapping[] },
  account: string,
  mail: Mail,
  now: Date,
): Promise<string[]> {
  const payload = { source: SOURCE, account, messages: [mail] };
  const url = `${hooks.path}/${SOURCE}`;
  const call = { headers: {}, url, path: SOURCE, query: {}, payload };
  const { mapping, filtered } = selectMapping(mappingsNamed(mappings, SOURCE), call, now);
  if (!mapping && filtered.length > 0) return [];
  if (!mapping) throw new Error("no mapping takes mails"); // the configuration guarantees one
  const { runs: mapped, shared } = mappedRuns(mapping, call, hooks, now);
  const runs = hooks.shareSessions ? mapped : await withoutForeignSessions(stores, mapped, GMAIL_LISTENER);
  const named = runs.map((run, index) => ({ ...run, runId: mailRunId(account, mail.id, index) }));
  const keeps = hooks.keepRequests !== undefined && hooks.gmail?.keepRequests === true;
  const kept = keeps ? keptMail(mapping.key, url, toJson(payload), now) : null;
  return (await acceptMappedRuns(stores, { runs: named, shared, kept })).runIds;
}

/** Returns a mail as a kept request. No sender has sent it, so that it has neither a signature nor an address. */
const keptMail = (mapping: string, url: string, body: string, createdAt: Date): NewHookRequest => ({
  _id: randomUUID(),
  createdAt,
  hook: SOURCE,
  mapping,
  outcome: "accepted",
  status: null,
  signature: null,
  address: null,
  contentType: "application/json",
  head: toJson({ headers: {}, url, query: {} }),
  body: Buffer.from(body),
});
