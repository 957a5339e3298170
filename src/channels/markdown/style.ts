/** The markup language of a channel. */
export type Dialect = "telegram-html" | "html" | "slack" | "discord" | "markdown" | "whatsapp" | "signal" | "plain";

/** The format and maximum length of a channel's messages. */
export interface TextStyle {
  readonly dialect: Dialect;
  /** Maximum length of a message in `unit`. For telegram-html and html it applies to the text without tags. */
  readonly limit: number;
  readonly unit: "utf16" | "runes" | "bytes";
}

/** One message of a reply, in the dialect and without formatting; both are within the limit. */
export interface Part {
  readonly text: string;
  readonly plain: string;
}
