/** The characters of a mail address, without quoted names and comments, which hardly anybody uses. */
const ADDRESS = '[^\\s@<>()\\[\\]\\\\,;:"]+@[^\\s@<>()\\[\\]\\\\,;:"]+';

/** The pattern of a sender: an address, or a name and an address in angle brackets. */
export const MAIL_SENDER_PATTERN = `^(${ADDRESS}|[^<>\\r\\n"]*<${ADDRESS}>)$`;

const RECIPIENT = new RegExp(`^${ADDRESS}$`);
/** Maximum characters of an address (RFC 5321, 4.5.3.1.3). */
const MAX_ADDRESS_CHARS = 254;

/** Returns whether a text is one mail address. */
export const isMailAddress = (text: string): boolean => text.length <= MAX_ADDRESS_CHARS && RECIPIENT.test(text);

/** Splits a sender that matches `MAIL_SENDER_PATTERN` into its name, which may be empty, and its address. */
export function readMailSender(sender: string): { readonly name: string; readonly address: string } {
  const [, name = "", address = sender] = /^([^<]*)<([^<>]*)>$/.exec(sender) ?? [];
  return { name: name.trim(), address };
}
