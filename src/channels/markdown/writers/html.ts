import type { Writer } from "../writer.ts";
import { telegram } from "./telegram.ts";

/**
 * HTML for mails. It has the same tags as Telegram's, which every mail program shows. Each address of the web and each mail
 * address can be a link.
 */
export const html: Writer = {
  ...telegram,
  hidesAddress: ({ href, isLabelAddress }) => !isLabelAddress && /^(?:https?:\/\/|mailto:)[^\s\p{Cc}]+$/iu.test(href),
};
