import type { MessageButton } from "../../channels/channel.ts";
import type { AskedQuestion } from "../../models/deliveries/delivery.ts";
import { buttonData } from "../../shared/chatEvent.ts";

/**
 * Returns the buttons of a question: those that answer it, or the one that opens the page with its form.
 * @param link the address of that page; without it, a question with a form has no buttons
 */
export function questionButtons(
  { button, needsForm }: Pick<AskedQuestion, "button" | "needsForm">,
  link: string | undefined,
): readonly MessageButton[] {
  if (needsForm) return link === undefined ? [] : [{ label: "Answer", url: link }];
  return [
    { label: "✅ Accept", press: buttonData(button, "accept") },
    { label: "❌ Decline", press: buttonData(button, "decline") },
  ];
}
