import type { MessageButton, OutgoingMessage } from "../channel.ts";

/** The characters of a section block, at most 3,000. */
const SECTIONS = /.{1,3000}/gsu;
/** Maximum characters of the text that notifications show. */
const MAX_FALLBACK = 3_000;

/** Returns a text whose characters Slack shows as they are. */
export const escapeEntities = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/**
 * Returns the fields of a message with buttons, or of one that had some: an edit without buttons removes them. A text in
 * `markdown_text` cannot stand beside blocks, so that the text is a block too.
 */
export function blockFields({ text, plainText, plain, buttons = [] }: OutgoingMessage): object {
  const body = plain
    ? (text.match(SECTIONS) ?? []).map((part) => ({
        type: "section",
        text: { type: "plain_text", text: part, emoji: false },
      }))
    : [{ type: "markdown", text }];
  const actions = { type: "actions", elements: buttons.map(element) };
  return {
    text: escapeEntities(plainText).slice(0, MAX_FALLBACK),
    blocks: [...body, ...(buttons.length > 0 ? [actions] : [])],
  };
}

const element = (button: MessageButton, i: number) => ({
  type: "button",
  action_id: `signalbox-${i}`,
  text: { type: "plain_text", text: button.label, emoji: true },
  ...("press" in button ? { value: button.press } : { url: button.url }),
});
