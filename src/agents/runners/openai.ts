import OpenAI from "openai";
import { Stream } from "openai/core/streaming";
import type { ChatCompletion, ChatCompletionChunk, ReasoningEffort } from "openai/resources";
import type { AgentRunner, AgentTurn } from "../runner.ts";
import { aborted } from "./aborted.ts";
import { failed, fromBody, fromSdk } from "./openaiError.ts";
import { patientFetch } from "./patientFetch.ts";

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

/** As much as such a reply can take in one JSON object, each character escaped. */
const MAX_OBJECT_BYTES = 8 * MAX_REPLY_CHARACTERS;

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
        return { text: await readReply(response, client) };
      } catch (error) {
        throw signal.aborted ? aborted(signal) : fromSdk(error, phase);
      }
    },
  };
}

/** Nothing is left to the SDK to find in the environment: what is not set here, it would look for there. */
function connect({ baseUrl = "https://api.openai.com/v1", apiKey, headers }: OpenAiSettings): OpenAI {
  if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? ""))
    throw failed("agents.runners.openai.baseUrl is no http URL.");
  return new OpenAI({
    baseURL: baseUrl,
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
async function readReply(response: Response, client: OpenAI): Promise<string> {
  if (!response.body) throw failed("The model server's answer is empty.");
  const isJson = /[/+]json\b/.test(response.headers.get("content-type") ?? "");
  if (isJson) return readObject(await readJson(response.body), response.headers);
  return readStream(Stream.fromSSEResponse<ChatCompletionChunk>(response, new AbortController(), client));
}

async function readJson(body: ReadableStream<Uint8Array>): Promise<ChatCompletion & { error?: unknown }> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_OBJECT_BYTES) throw failed("The model's answer is too long.");
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}

function readObject(answer: (ChatCompletion & { error?: unknown }) | null, headers: Headers): string {
  if (answer?.error) throw fromBody(answer.error, headers);
  const choice = answer?.choices?.[0];
  if (!choice) throw failed("The model server's answer has no choices.");
  return checkReply(choice.message?.content, choice.message?.refusal, choice.finish_reason);
}

async function readStream(chunks: Stream<ChatCompletionChunk>): Promise<string> {
  let text = "";
  let refusal: string | undefined;
  let seen = false;
  let finish: string | undefined;
  for await (const chunk of chunks) {
    // A chunk of usage or of a content filter has no choice.
    const choice = chunk?.choices?.find(({ index = 0 }) => index === 0);
    if (!choice) continue;
    seen = true;
    if (typeof choice.delta?.content === "string") text += choice.delta.content;
    refusal ??= choice.delta?.refusal || undefined;
    finish ??= choice.finish_reason ?? undefined;
    if (text.length > MAX_REPLY_CHARACTERS) break;
  }
  if (!seen) throw failed("The model server's answer has no choices.");
  // One that was cut off between two chunks, by a proxy say, ends like a complete one but for this.
  if (!finish && text.length <= MAX_REPLY_CHARACTERS) throw new Error("the stream ended without a finish_reason");
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
