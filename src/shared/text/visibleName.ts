/** Matches characters that show nothing, or change the direction of what follows: a name must not look like another. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** Returns a person's name as it is recorded: without characters that nobody sees. */
export const visibleName = (name = ""): string => name.replace(INVISIBLE, "").trim();

/** Returns a name of a person who acts in a chat, as it is recorded: `telegram:123456 (Ann)`. */
export function chatName(channel: string, { id, name }: { readonly id: string; readonly name: string }): string {
  const visible = visibleName(name).toWellFormed();
  return `${channel}:${id}${visible && ` (${visible})`}`;
}
