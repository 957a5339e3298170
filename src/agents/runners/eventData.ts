import { agentFailed } from "./turnErrors.ts";

/**
 * Yields the data of each server-sent event as soon as it is complete. An event without its empty line at the end of the
 * body is dropped, except `[DONE]`, the last event of a model's stream.
 * @throws AppError agent_failed if an event is longer than `maxCharacters`
 */
export async function* eventData(body: AsyncIterable<Uint8Array>, maxCharacters: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let line = "";
  let data = "";
  let afterReturn = false;
  for await (const bytes of body) {
    const decoded = decoder.decode(bytes, { stream: true });
    if (decoded === "") continue;
    // Lines end with \n, \r\n or \r, and a \r\n may arrive in two chunks.
    const text = afterReturn && decoded.startsWith("\n") ? decoded.slice(1) : decoded;
    afterReturn = decoded.endsWith("\r");
    const [rest = "", ...more] = text.split(/\r\n|\r|\n/);
    const lines = [line + rest, ...more];
    line = lines.pop() ?? "";
    for (const complete of lines) {
      if (complete.startsWith("data:")) data += (data && "\n") + complete.slice(5).trim();
      if (data && (complete === "" || data === "[DONE]")) {
        yield data;
        data = "";
      }
    }
    if (data.length + line.length > maxCharacters) throw agentFailed("The model's answer is too long.");
  }
}
