import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { createParser } from "eventsource-parser";
import OpenAI from "openai";
import type { ChatCompletion, ChatCompletionChunk, ReasoningEffort } from "openai/resources";
import { trimSlashes } from "../../shared/address.ts";
import { AppError } from "../../shared/errors.ts";
import { fetchWithoutTimeout } from "./fetchWithoutTimeout.ts";
import { type ErrorFields, throwIfError, toAppError } from "./openaiError.ts";
import { contentText, withoutThoughts } from "./replyText.ts";
import type { AgentReply, AgentRunner, AgentTurn } from "./runner.ts";
import { withoutThoughtsAhead } from "./shownText.ts";
import { askForUsage } from "./streamOptions.ts";
import { abortError, agentFailed } from "./turnErrors.ts";
import { chatUsage } from "./turnUsage.ts";

export interface OpenAiSettings {
  /** The address including its path, such as `http://localhost:11434/v1`. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The SDK's time limit: the maximum of setTimeout (24 days), because the signal of the turn limits its time. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/** Maximum length of a reply. A model that exceeds it no longer stops. */
const MAX_REPLY_CHARACTERS = 4 * 1024 * 1024;

/** Maximum size of a JSON answer, or of one event of a stream: a reply of maximum length with each character escaped. */
const MAX_OBJECT_BYTES = 8 * MAX_REPLY_CHARACTERS;

const NOT_OPENAI =
  "The model server's answer is not one of the chat completions API: does agents.runners.openai.baseUrl end in /v1?";

/** How long to wait for the end of the response after `[DONE]`, so that the connection can be reused. */
const END_AFTER_DONE_MS = 200;

/** How long to wait for data after a finish_reason: usage, `[DONE]`, and from some servers more text. */
const REST_AFTER_FINISH_MS = 3_000;

/**
 * Returns a runner that uses the chat completions API of OpenAI or of a compatible server.
 * @throws AppError agent_failed if `baseUrl` is not an http URL
 */
export function openAiRunner(settings: OpenAiSettings): AgentRunner {
  const client = connect(settings);
  const refusing = new Set<string>();
  const secrets = [settings.apiKey ?? "", ...Object.values(settings.headers ?? {})];
  return {
    async run(turn, signal) {
      let phase: "asking" | "reading" = "asking";
      try {
        signal.throwIfAborted();
        const response = await ask(client, turn, refusing, signal);
        phase = "reading";
        const onUsage = ({ usage }: UsageField) => {
          const known = chatUsage(usage);
          if (known) turn.onUsage?.(known);
        };
        const onText = withoutThoughtsAhead((delta) => turn.onEvent?.({ type: "message.delta", delta }));
        return await readReply(response, { onUsage, onText, secrets });
      } catch (error) {
        throw signal.aborted ? abortError(signal) : toAppError(error, phase, secrets);
      }
    },
  };
}

/** Creates the client. Every setting is given explicitly: the SDK would read missing ones from the environment. */
function connect({ baseUrl = "https://api.openai.com/v1", apiKey, headers }: OpenAiSettings): OpenAI {
  if (!/^https?:$/.test(URL.parse(baseUrl)?.protocol ?? ""))
    throw agentFailed("agents.runners.openai.baseUrl is not an http or https URL.");
  return new OpenAI({
    baseURL: trimSlashes(baseUrl),
    apiKey: apiKey || "none", // local servers need none, but the SDK does
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    defaultHeaders: { ...headers },
    fetch: fetchWithoutTimeout,
    timeout: NO_TIMEOUT_MS,
    maxRetries: 0,
    logLevel: "off", // the SDK logs answers that it cannot parse, which contain the reply
  });
}

/**
 * Sends the request. Except for `stream_options` it contains only fields that every server supports: some refuse fields that
 * their model does not.
 */
function ask(
  client: OpenAI,
  { model, messages, thinking }: AgentTurn,
  refusing: Set<string>,
  signal: AbortSignal,
): Promise<Response> {
  if (!model) throw agentFailed("No model is configured: set agents.defaults.model.");
  const body = {
    model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    stream: true as const,
    ...(thinking && { reasoning_effort: thinking as ReasoningEffort }),
  };
  return askForUsage(model, refusing, (fields) =>
    client.chat.completions.create({ ...body, ...fields }, { signal }).asResponse(),
  );
}

/** The usage that an answer or a chunk of it reports. */
interface UsageField {
  readonly usage?: unknown;
}

interface Reading {
  readonly onUsage: (answer: UsageField) => void;
  /** Takes each piece of text of a stream. */
  readonly onText: (piece: string) => void;
  /** The values that are masked in the server's own sentence about an error. */
  readonly secrets: readonly string[];
}

/** Reads the text of the first choice from a stream, or from one JSON object of a server that does not stream. */
async function readReply({ body, headers }: Response, reading: Reading): Promise<AgentReply> {
  if (!body) throw agentFailed("The model server's answer is empty.");
  const isJson = /[/+]json\b/.test(headers.get("content-type") ?? "");
  if (/[/+]html\b/.test(headers.get("content-type") ?? "")) throw agentFailed(NOT_OPENAI);
  return isJson ? readObject(await readJson(body), headers, reading) : readStream(body, headers, reading);
}

async function readJson(body: AsyncIterable<Uint8Array>): Promise<(ChatCompletion & ErrorFields) | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_OBJECT_BYTES) throw agentFailed("The model's answer is too long.");
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString());
}

function readObject(
  answer: (ChatCompletion & ErrorFields) | null,
  headers: Headers,
  { onUsage, secrets }: Reading,
): AgentReply {
  onUsage(answer ?? {});
  const choice = answer?.choices?.[0];
  throwIfError(answer ?? {}, choice, headers, secrets);
  if (!choice) throw agentFailed(NOT_OPENAI);
  const { content, refusal, tool_calls } = choice.message ?? {};
  return checkReply({ content, refusal, finish: choice.finish_reason, tool: toolName(tool_calls) });
}

/** Reads a stream. It is complete after a finish_reason or `[DONE]`; a later loss of the connection is no error. */
async function readStream(
  body: NonNullable<Response["body"]>,
  headers: Headers,
  { onUsage, onText, secrets }: Reading,
): Promise<AgentReply> {
  const bytes = Readable.fromWeb(body as ReadableStream<Uint8Array>);
  let closeTimer: NodeJS.Timeout | undefined;
  const closeIn = (ms: number) => {
    clearTimeout(closeTimer);
    closeTimer = setTimeout(() => bytes.destroy(), ms);
  };
  let text = "";
  let refusal: string | undefined;
  let tool: string | undefined;
  let hasChoice = false;
  let finish: string | undefined;
  let done = false;
  let latest: UsageField = {};
  try {
    for await (const data of eventData(bytes, MAX_OBJECT_BYTES)) {
      if (data === "[DONE]") closeIn(END_AFTER_DONE_MS);
      done ||= data === "[DONE]";
      if (done) continue;
      const chunk: (ChatCompletionChunk & ErrorFields) | null = JSON.parse(data);
      if (chunk?.usage) latest = chunk; // Some servers report the usage so far in every chunk.
      // A chunk with usage or with results of a content filter has no choice.
      const choice = chunk?.choices?.find(({ index = 0 }) => index === 0);
      throwIfError(chunk ?? {}, choice, headers, secrets);
      if (!choice) continue;
      hasChoice = true;
      const piece = contentText(choice.delta?.content);
      text += piece;
      onText(piece);
      refusal ??= choice.delta?.refusal || undefined;
      tool ??= toolName(choice.delta?.tool_calls);
      finish ||= choice.finish_reason ?? undefined;
      if (text.length > MAX_REPLY_CHARACTERS) break;
      if (finish) closeIn(REST_AFTER_FINISH_MS);
    }
  } catch (error) {
    if (!(done || finish) || error instanceof AppError) throw error;
  } finally {
    clearTimeout(closeTimer);
    onUsage(latest);
  }
  if (!hasChoice) throw agentFailed(NOT_OPENAI);
  // A stream that a proxy cut off between two chunks differs from a complete one only in this.
  if (!done && !finish && text.length <= MAX_REPLY_CHARACTERS)
    throw new Error("the stream ended before the answer was complete");
  return checkReply({ content: text, refusal, finish, tool });
}

/** Returns the name of the first tool that the model asks for. */
const toolName = (calls: readonly object[] | null | undefined) =>
  calls?.map((call) => (call as { function?: { name?: string } }).function?.name).find(Boolean);

interface Answer {
  readonly content: unknown;
  readonly refusal: unknown;
  readonly finish: unknown;
  readonly tool: string | undefined;
}

function checkReply({ content, refusal, finish, tool }: Answer): AgentReply {
  if (refusal) throw agentFailed("The model refused to answer.");
  const isCutOff = finish === "length";
  const text = withoutThoughts(contentText(content), isCutOff);
  if (text === "" && tool) {
    const name = /^[\w.:-]{1,64}$/.test(tool) ? ` ${tool}` : "";
    throw agentFailed(`The model asked for the tool${name}; the openai runner offers no tools.`);
  }
  if (text === "") {
    const why = isCutOff ? ": its limit of tokens was reached before" : "";
    throw agentFailed(
      finish === "content_filter" ? "A content filter stopped the answer." : `The model's answer has no text${why}.`,
    );
  }
  if (text.length > MAX_REPLY_CHARACTERS) throw agentFailed("The model's answer is too long.");
  return { text, ...(isCutOff && { isCutOff }) };
}

/**
 * Yields the data of each server-sent event as soon as it is complete. An event without its empty line at the end of the
 * body is dropped, except `[DONE]`, the last event of a model's stream.
 * @throws AppError agent_failed if an event is longer than `maxCharacters`
 */
async function* eventData(body: AsyncIterable<Uint8Array>, maxCharacters: number): AsyncGenerator<string> {
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
