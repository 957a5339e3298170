import { failed } from "./turnErrors.ts";

/**
 * The data of each server-sent event, as soon as it is there. One that the end cuts off is left out; `[DONE]`, the last of a
 * model's stream, need not have the empty line after it.
 * @throws AppError agent_failed when one is longer than that many characters
 */
export async function* eventData(body: AsyncIterable<Uint8Array>, maxCharacters: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let line = "";
  let data = "";
  let afterReturn = false;
  for await (const bytes of body) {
    const decoded = decoder.decode(bytes, { stream: true });
    if (decoded === "") continue;
    // Lines end with \n, \r\n or \r, and a \r\n may come in two pieces.
    const text = afterReturn && decoded.startsWith("\n") ? decoded.slice(1) : decoded;
    afterReturn = decoded.endsWith("\r");
    const [rest = "", ...more] = text.split(/\r\n|\r|\n/);
    const lines = [line + rest, ...more];
    line = lines.pop() ?? "";
    for (const one of lines) {
      if (one.startsWith("data:")) data += (data && "\n") + one.slice(5).trim();
      if (data && (one === "" || data === "[DONE]")) {
        yield data;
        data = "";
      }
    }
    if (data.length + line.length > maxCharacters) throw failed("The model's answer is too long.");
  }
}
