import type { OutgoingMessage } from "../../channels/channel.ts";
import type { DeliveryDoc, DeliveryPart } from "../../models/deliveries/delivery.ts";
import { questionButtons } from "../chat/questionButtons.ts";

/** Returns whether a part has the buttons of a delivery: the last one, below the text. */
export const hasButtons = (
  { question }: Pick<DeliveryDoc, "question">,
  parts: readonly unknown[],
  index: number,
): boolean => question !== undefined && index === parts.length - 1;

/** Returns one part of a delivery as its channel sends it. */
export function outgoingMessage(delivery: DeliveryDoc, parts: readonly DeliveryPart[], index: number): OutgoingMessage {
  const { _id, to, title, link, question } = delivery;
  const { text, plain, asPlain } = parts[index] as DeliveryPart;
  // A service may refuse the address of a page; the text has it too.
  const buttons = question && questionButtons(question, asPlain ? undefined : link);
  return {
    to: to ?? "",
    text: asPlain ? plain : text,
    plainText: plain,
    plain: asPlain,
    ...(index === 0 && { title, link }),
    ...(hasButtons(delivery, parts, index) && { buttons }),
    key: `${_id}-${index}`.slice(-64),
  };
}
