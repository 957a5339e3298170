import { type DeliveryDoc, type SentRefs, threadRef } from "../../models/deliveries/delivery.ts";

/**
 * Returns the names of a message that was sent, for the write that marks it as sent: of a message with the buttons of a question,
 * or of a reply, whose answers continue the session.
 */
export function sentRefs(
  { channel, event }: Pick<DeliveryDoc, "channel" | "event">,
  refs: readonly string[],
  hasButtons: boolean,
): SentRefs {
  if (hasButtons) return { "question.refs": refs.slice(0, 1) };
  return event ? {} : { refs: refs.map((ref) => threadRef(channel, ref)) };
}
