import type { Dialect } from "./style.ts";
import { PLAIN, type Writer } from "./writer.ts";
import { signal, whatsapp } from "./writers/chat.ts";
import { html } from "./writers/html.ts";
import { discord, markdown, slack } from "./writers/markdown.ts";
import { telegram } from "./writers/telegram.ts";

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
