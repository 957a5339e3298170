import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import OpenAI from "openai";
import type { ChatCompletion, ChatCompletionChunk, ReasoningEffort } from "openai/resources";
import { trimSlashes } from "../../shared/address.ts";
import { AppError } from "../../shared/errors.ts";
import { eventData } from "./eventData.ts";
import { checkError, fromThrown, type Told } from "./openaiError.ts";
import { patientFetch } from "./patientFetch.ts";
import type { AgentRunner, AgentTurn } from "./runner.ts";
import { aborted, failed } from "./turnErrors.ts";

export interface OpenAiSettings {
  /** With its path, such as `http://localhost:11434/v1`. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The longest that setTimeout takes, 24 days: how long a turn may take is not for the SDK to say. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** A reply beyond this is a model that no longer stops. */
const MAX_REPLY_CHARACTERS = 4 * 1024 * 1024;

/** As much as such a reply can take in one JSON object, or in one event of a stream, each character escaped. */
const MAX_OBJECT_BYTES = 8 * MAX_REPLY_CHARACTERS;

/** How long the connection may take to end after `[DONE]`, so that it can be used again. */
const END_AFTER_DONE_MS = 200;

/** How long what may follow a finish_reason may keep us waiting: usage, `[DONE]`, and of some servers more text. */
const REST_AFTER_FINISH_MS = 3_000;

/** Asks a model behind the chat completions of OpenAI, or of any server that speaks them. */
export function openAiRunner(settings: OpenAiSettings): AgentRunner {
  const client = connect(settings);
  return {
    async run(turn, signal) {
      let phase: "asking" | "reading" = "asking";
      try {
        signal.throwIfAborted();
        const response = await ask(client, turn, signal);
        phase = "reading";
        return { text: await readReply(response) };
      } catch (error) {
        throw signal.aborted ? aborted(signal) : fromThrown(error, phase);
      }
    },
  };
}

/** Nothing is left to the SDK to find in the environment: what is not set here, it would look for there. */
function connect({ baseUrl = "https://api.openai.com/v1", apiKey, headers }: OpenAiSettings): OpenAI {
  if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? ""))
    throw failed("agents.runners.openai.baseUrl is no http URL.");
  return new OpenAI({
    baseURL: trimSlashes(baseUrl),
    apiKey: apiKey || "none", // local servers want none; the SDK wants one
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    defaultHeaders: { ...headers },
    fetch: patientFetch,
    timeout: NO_TIMEOUT_MS,
    maxRetries: 0,
    logLevel: "off", // it logs what it cannot read, which is the reply
  });
}

/** Only what every server knows: some refuse a field that their model does not take. */
function ask(client: OpenAI, { model, messages, thinking }: AgentTurn, signal: AbortSignal): Promise<Response> {
  if (!model) throw failed("No model is set: give one in agents.defaults.model.");
  const body = {
    model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    stream: true as const,
    ...(thinking && { reasoning_effort: thinking as ReasoningEffort }),
  };
  return client.chat.completions.create(body, { signal }).asResponse();
}

/** The text of the first choice, from a stream or, of servers that stream nothing, from one JSON object. */
async function readReply({ body, headers }: Response): Promise<string> {
  if (!body) throw failed("The model server's answer is empty.");
  const isJson = /[/+]json\b/.test(headers.get("content-type") ?? "");
  return isJson ? readObject(await readJson(body), headers) : readStream(body, headers);
}

async function readJson(body: AsyncIterable<Uint8Array>): Promise<(ChatCompletion & Told) | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_OBJECT_BYTES) throw failed("The model's answer is too long.");
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}

function readObject(answer: (ChatCompletion & Told) | null, headers: Headers): string {
  const choice = answer?.choices?.[0];
  checkError(answer ?? {}, choice, headers);
  if (!choice) throw failed("The model server's answer has no choices.");
  return checkReply(choice.message?.content, choice.message?.refusal, choice.finish_reason);
}

/** Complete with a finish_reason or `[DONE]`: what the connection does afterwards takes nothing away. */
async function readStream(body: NonNullable<Response["body"]>, headers: Headers): Promise<string> {
  const bytes = Readable.fromWeb(body as ReadableStream<Uint8Array>);
  let hangUp: NodeJS.Timeout | undefined;
  const hangUpIn = (ms: number) => {
    clearTimeout(hangUp);
    hangUp = setTimeout(() => bytes.destroy(), ms);
  };
  let text = "";
  let refusal: string | undefined;
  let seen = false;
  let finish: string | undefined;
  let done = false;
  try {
    for await (const data of eventData(bytes, MAX_OBJECT_BYTES)) {
      if (data === "[DONE]") hangUpIn(END_AFTER_DONE_MS);
      done ||= data === "[DONE]";
      if (done) continue;
      const chunk: (ChatCompletionChunk & Told) | null = JSON.parse(data);
      // A chunk of usage or of a content filter has no choice.
      const choice = chunk?.choices?.find(({ index = 0 }) => index === 0);
      checkError(chunk ?? {}, choice, headers);
      if (!choice) continue;
      seen = true;
      if (typeof choice.delta?.content === "string") text += choice.delta.content;
      refusal ??= choice.delta?.refusal || undefined;
      finish ||= choice.finish_reason ?? undefined;
      if (text.length > MAX_REPLY_CHARACTERS) break;
      if (finish) hangUpIn(REST_AFTER_FINISH_MS);
    }
  } catch (error) {
    if (!(done || finish) || error instanceof AppError) throw error;
  } finally {
    clearTimeout(hangUp);
  }
  if (!seen) throw failed("The model server's answer has no choices.");
  // One that was cut off between two chunks, by a proxy say, ends like a complete one but for this.
  if (!done && !finish && text.length <= MAX_REPLY_CHARACTERS)
    throw new Error("the stream ended before its answer did");
  return checkReply(text, refusal, finish);
}

function checkReply(content: unknown, refusal: unknown, finish: unknown): string {
  if (refusal) throw failed("The model refused to answer.");
  if (typeof content !== "string" || content === "") {
    const why = finish === "length" ? ": its limit of tokens was reached before" : "";
    throw failed(
      finish === "content_filter" ? "A content filter stopped the answer." : `The model answered without a text${why}.`,
    );
  }
  if (content.length > MAX_REPLY_CHARACTERS) throw failed("The model's answer is too long.");
  return content;
}
