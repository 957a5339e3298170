import { createParser } from "eventsource-parser";
import { agentFailed } from "./turnErrors.ts";

/**
 * Yields the data of each server-sent event as soon as it is complete. An event without its empty line at the end of the
 * body is dropped, except `[DONE]`, the last event of a model's stream.
 * @throws AppError agent_failed if an event is longer than `maxCharacters`
 */
export async function* eventData(body: AsyncIterable<Uint8Array>, maxCharacters: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const complete: string[] = [];
  const parser = createParser({
    maxBufferSize: maxCharacters,
    onEvent: ({ data }) => {
      if (data.trim()) complete.push(data.trim());
    },
    onError: ({ type }) => {
      if (type === "max-buffer-size-exceeded") throw agentFailed("The model's answer is too long.");
    },
  });
  for await (const bytes of body) {
    const text = decoder.decode(bytes, { stream: true });
    parser.feed(text);
    // Some servers leave out the last empty line and keep the connection.
    if (/^data: *\[DONE\]\s*$/m.test(text.slice(-20))) parser.feed("\n\n");
    yield* complete.splice(0);
  }
  parser.feed("\n\n");
  if (complete[0] === "[DONE]") yield complete[0];
}
