/** Returns the type of an error and its stack frames, without its message, which may quote the reply. */
export function locationOf(thrown: unknown): { name: string; at: string[] } {
  if (!(thrown instanceof Error)) return { name: typeof thrown, at: [] };
  const { name, message, stack = "" } = thrown;
  const frames = stack.slice(stack.indexOf(message) + message.length).split("\n");
  return { name, at: frames.map((frame) => frame.trim()).filter(Boolean) };
}
