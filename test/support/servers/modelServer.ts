import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { type Behaviour, type ChannelServer, startChannelServer } from "./channelServer.ts";

export type { Behaviour };
export type ModelServer = ChannelServer;

/** A fake server of OpenAI's chat completions; `url` is the base URL for clients. */
export async function startModelServer(): Promise<ModelServer> {
  const server = await startChannelServer(says("Hello from the model."));
  return { ...server, url: `${server.url}/v1` };
}

/** Responds with the text, word by word every `gapMs` if a stream was requested. */
export const says =
  (text: string, { gapMs = 0 } = {}): Behaviour =>
  async (response, request) => {
    if (!request.body.stream) return saysPlain(text)(response, request);
    openStream(response);
    for (const word of text.split(/(?<= )/)) {
      send(response, delta({ content: word }));
      if (gapMs > 0) await delay(gapMs);
      if (response.destroyed) return;
    }
    send(response, delta({}, "stop"));
    response.end("data: [DONE]\n\n");
  };

/** Responds with the text in one JSON object even to a stream request, as servers without streaming do. */
export const saysPlain = (text: string, usage?: object): Behaviour =>
  answers(200, {
    choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
    ...(usage && { usage }),
  });

/** Never responds, or with `text` starts a stream and never ends it. */
export const hangs =
  (text?: string): Behaviour =>
  (response) => {
    if (text === undefined) return;
    openStream(response);
    send(response, delta({ content: text }));
  };

/** Responds with a status, a JSON object and headers, as in `answers(429, { error: … }, { "Retry-After": "7" })`. */
export const answers =
  (status: number, body: unknown, headers: Record<string, string> = {}): Behaviour =>
  (response) => {
    response.writeHead(status, { "Content-Type": "application/json", ...headers }).end(JSON.stringify(body));
  };

/** Repeats the same data without end, until the client disconnects. */
export const pours =
  (status: number, type: string, piece: string): Behaviour =>
  async (response) => {
    const gone = once(response, "close");
    response.writeHead(status, { "Content-Type": type });
    while (!response.destroyed) {
      if (!response.write(piece)) await Promise.race([once(response, "drain"), gone]);
    }
  };

/** Streams these chunks, with `[DONE]` unless it is omitted; the connection then ends, breaks or stays open. */
export const streams =
  (chunks: readonly unknown[], ending: { cut?: boolean; open?: boolean; done?: boolean } = {}): Behaviour =>
  (response) => {
    const { cut = false, open = false, done = !cut && !open } = ending;
    openStream(response);
    for (const chunk of chunks) send(response, chunk);
    const last = done ? "data: [DONE]\n\n" : ": the last\n\n";
    if (cut) response.write(last, () => response.destroy());
    else if (open) response.write(last);
    else response.end(last);
  };

/** Returns one chunk of a stream. */
export const delta = (delta: object, finish: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
});

/** Returns the last chunk of a stream whose request asked for usage. It has no choices. */
export const usageChunk = (usage: object | null) => ({ choices: [], usage });

function openStream(response: ServerResponse): void {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
}

function send(response: ServerResponse, chunk: unknown): void {
  response.write(`data: ${JSON.stringify(chunk)}\n\n`);
}
