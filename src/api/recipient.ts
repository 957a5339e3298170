import { recipientFault } from "../config/channels/recipients.ts";
import { invalidValue } from "../shared/errors.ts";
import type { ApiDeps } from "./deps.ts";

/**
 * Refuses a recipient to whom its channel can never send. `last` is the channel of the main session's replies; without a reply
 * target it names none, and the recipient is not checked.
 * @param path the JSON Pointer of the recipient in the body, without the first slash
 * @throws AppError invalid_body, unavailable
 */
export async function checkRecipient(
  { stores, initialReplyTarget }: Pick<ApiDeps, "stores" | "initialReplyTarget">,
  channel: string | undefined,
  to: string | null | undefined,
  path = "to",
): Promise<void> {
  if (to === undefined || to === null) return;
  const isLast = channel === undefined || channel === "last";
  const name = isLast ? (await stores.sessions.currentReplyTarget(initialReplyTarget))?.channel : channel;
  const fault = name === undefined ? undefined : recipientFault(name, to);
  if (fault !== undefined) throw invalidValue(path, fault);
}
