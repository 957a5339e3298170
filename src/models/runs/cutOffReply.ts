/** The end of a message whose reply was cut off. */
const NOTICE = "… (cut off: the model reached its length limit)";

/** Returns the text of a reply as readers get it: a reply that was cut off ends with a notice, outside of a code block. */
export function markedReply({
  reply,
  isCutOff = false,
}: {
  readonly reply: string;
  readonly isCutOff?: boolean | undefined;
}): string {
  if (!isCutOff) return reply;
  const fence = openFence(reply);
  return `${reply.trimEnd()}${fence === "" ? "" : `\n${fence}`}\n\n${NOTICE}`;
}

/** Returns the sign that ends the code block in which a text ends; empty outside of one. */
function openFence(markdown: string): string {
  let open = "";
  for (const [, fence = "", info = ""] of markdown.matchAll(/^ {0,3}(`{3,}|~{3,})(.*)/gm)) {
    if (open === "") open = fence;
    else if (fence.startsWith(open) && info.trim() === "") open = "";
  }
  return open;
}
