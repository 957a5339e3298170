/** How a channel writes what Markdown says. */
export type Dialect = "telegram-html" | "slack" | "discord" | "markdown" | "whatsapp" | "signal" | "plain";

/** What a channel takes in one message. */
export interface TextStyle {
  readonly dialect: Dialect;
  /** How long one message may be, in `unit`. Where the dialect is telegram-html, what counts is the text that is shown. */
  readonly limit: number;
  readonly unit: "utf16" | "runes" | "bytes";
}

/** One message of a reply: as the dialect writes it, and without any formatting; neither is over the limit. */
export interface Part {
  readonly text: string;
  readonly plain: string;
}
