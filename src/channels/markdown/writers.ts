import type { Dialect } from "./style.ts";
import { PLAIN, type Writer } from "./writer.ts";
import { signal, whatsapp } from "./writers/chat.ts";
import { discord, markdown, slack } from "./writers/markdown.ts";
import { telegram } from "./writers/telegram.ts";

/**
 * HTML for mails. It has the same tags as Telegram's, which every mail program shows. Each address of the web and each mail
 * address can be a link.
 */
const html: Writer = {
  ...telegram,
  hidesAddress: ({ href, isLabelAddress }) => !isLabelAddress && /^(?:https?:\/\/|mailto:)[^\s\p{Cc}]+$/iu.test(href),
};

export const WRITERS: Readonly<Record<Dialect, Writer>> = {
  "telegram-html": telegram,
  html,
  slack,
  discord,
  markdown,
  whatsapp,
  signal,
  plain: PLAIN,
};
