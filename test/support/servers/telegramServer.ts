import { EventEmitter, once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** A message of the bot. */
export interface BotMessage {
  readonly chat: number;
  readonly id: number;
  text: string;
  /** The rows of its buttons; empty without buttons. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it
  buttons: any[];
  /** The number of edits that changed it. */
  edits: number;
}

const ANN = { id: 7, is_bot: false, first_name: "Ann" };

// biome-ignore lint/suspicious/noExplicitAny: the bodies of the Bot API
type Json = any;

interface Said {
  readonly chat?: number;
  readonly from?: object;
  /** The message of the bot that is quoted. */
  readonly quotes?: BotMessage;
  readonly [field: string]: unknown;
}

/**
 * Stands for the server of Telegram's Bot API: keeps updates until they are confirmed, allows one reader, sends updates to the
 * webhook if one is set, and keeps messages.
 */
export class TelegramServer {
  readonly messages: BotMessage[] = [];
  /** The answers to presses. */
  readonly answers: { readonly id: string; readonly text: string }[] = [];
  /** The number of requests for updates that were answered with updates or none. */
  reads = 0;
  conflicts = 0;
  webhook = "";
  /** The secret that the webhook got. */
  secret = "";
  /** The address to which the requests to the webhook go, in place of its public one. */
  webhookOrigin = "";
  /** Answers requests in place of the server while it is set. Returns false to let the server answer. */
  fault: ((method: string, response: ServerResponse) => boolean) | undefined;
  #updates: { readonly update_id: number }[] = [];
  #lastUpdate = 1_000;
  #lastMessage = 500;
  #reader: { end(): void } | undefined;
  readonly #events = new EventEmitter();
  readonly #server = createServer(async (request, response) => {
    const method = request.url?.split("/").at(-1) ?? "";
    const body: Json = request.method === "POST" ? await json(request).catch(() => ({})) : {};
    if (this.fault?.(method, response)) return;
    const known: Record<string, () => unknown> = {
      getUpdates: () => this.#getUpdates(body, response),
      sendMessage: () => this.#send(body, response),
      editMessageText: () => this.#edit(body, response),
      answerCallbackQuery: () => this.#answer(body, response),
      getMe: () => succeed(response, { id: 1, is_bot: true, username: "signalbox_bot" }),
      getWebhookInfo: () => succeed(response, { url: this.webhook, pending_update_count: this.unconfirmed }),
      setWebhook: () => this.#setWebhook(body, response),
      deleteWebhook: () => this.#setWebhook({ url: "" }, response),
    };
    (known[method] ?? (() => fail(response, 404, "Not Found")))();
  });

  static async start(): Promise<TelegramServer> {
    const server = new TelegramServer();
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The updates that no reader has confirmed. */
  get unconfirmed(): number {
    return this.#updates.length;
  }

  /** A person presses a button of a message. @returns the id of the press */
  press({ chat, id, buttons }: BotMessage, label: string, from: object = ANN): string {
    const button = buttons.flat().find(({ text }) => text.includes(label));
    const query = `press-${this.#lastUpdate}`;
    const message = { message_id: id, chat: { id: chat, type: "private" } };
    this.push({ callback_query: { id: query, from, message, data: button?.callback_data ?? "none" } });
    return query;
  }

  /** A person writes. @param message further fields of the message */
  say(text: string, { chat = 42, from = ANN, quotes, ...message }: Said = {}): void {
    const quoted = quotes && { reply_to_message: { message_id: quotes.id, chat: { id: quotes.chat } } };
    const sent = { message_id: ++this.#lastMessage, date: 1, chat: { id: chat, type: "private" }, from, text };
    this.push({ message: { ...sent, ...quoted, ...message } });
  }

  /** Queues an update. */
  push(update: object): void {
    this.#updates.push({ update_id: ++this.#lastUpdate, ...update });
    this.#events.emit("update");
    void this.sendUpdates();
  }

  /** Sends the oldest updates to the webhook, as long as it takes them. */
  async sendUpdates(): Promise<void> {
    while (this.webhook && this.#updates[0]) {
      const [update] = this.#updates;
      if (!(await this.sendUpdate(update, this.secret)).ok) return;
      this.#updates = this.#updates.filter((one) => one !== update);
    }
  }

  /** Sends an update to the webhook. */
  sendUpdate(update: object, secret: string): Promise<Response> {
    const { pathname } = new URL(this.webhook);
    const headers = { "Content-Type": "application/json", "X-Telegram-Bot-Api-Secret-Token": secret };
    return fetch(this.webhookOrigin + pathname, { method: "POST", headers, body: JSON.stringify(update) });
  }

  /** Sends updates again that were confirmed, as after a failure of the service. */
  repeat(update: object): void {
    this.#updates.push({ update_id: this.#lastUpdate, ...update });
    this.#events.emit("update");
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((closed) => this.#server.close(closed));
  }

  #getUpdates({ offset = 0, limit = 100, timeout = 0 }: Json, response: ServerResponse): unknown {
    if (this.webhook) return conflict(response, "can't use getUpdates method while webhook is active");
    this.#updates = this.#updates.filter(({ update_id }) => update_id >= offset);
    this.#reader?.end();
    const answer = () => {
      stop();
      this.reads++;
      succeed(response, this.#updates.slice(0, limit));
    };
    const stop = () => {
      clearTimeout(timer);
      this.#events.off("update", answer);
      if (this.#reader === reader) this.#reader = undefined;
    };
    const reader = {
      end: () => {
        stop();
        this.conflicts++;
        conflict(response, "terminated by other getUpdates request; make sure that only one bot instance is running");
      },
    };
    const timer = setTimeout(answer, timeout * 1_000);
    this.#reader = reader;
    this.#events.once("update", answer);
    response.once("close", stop);
    if (this.#updates.length > 0) answer();
    return undefined;
  }

  #setWebhook({ url, secret_token: secret = "" }: Json, response: ServerResponse): void {
    Object.assign(this, { webhook: url, secret });
    succeed(response, true);
    void this.sendUpdates();
  }

  #send({ chat_id, text, reply_markup, message_thread_id: topic }: Json, response: ServerResponse): void {
    const id = this.messages.length + 1;
    const chat = Number(chat_id);
    const buttons = reply_markup?.inline_keyboard ?? [];
    this.messages.push({ chat, id, text, buttons, edits: 0 });
    this.#events.emit("message");
    const topics = topic === undefined ? {} : { message_thread_id: topic, is_topic_message: true };
    succeed(response, { message_id: id, date: 1, chat: { id: chat, type: "private" }, text, ...topics });
  }

  #edit({ chat_id, message_id, text, reply_markup }: Json, response: ServerResponse): unknown {
    const found = this.messages.find(({ chat, id }) => chat === Number(chat_id) && id === message_id);
    if (!found) return fail(response, 400, "Bad Request: message to edit not found");
    const buttons = reply_markup?.inline_keyboard ?? [];
    if (found.text === text && JSON.stringify(found.buttons) === JSON.stringify(buttons)) {
      return fail(response, 400, "Bad Request: message is not modified: specified new message content is the same");
    }
    Object.assign(found, { text, buttons, edits: found.edits + 1 });
    return succeed(response, { message_id, date: 1, chat: { id: found.chat, type: "private" }, text });
  }

  #answer({ callback_query_id: id, text }: Json, response: ServerResponse): void {
    this.answers.push({ id, text });
    succeed(response, true);
  }
}

const reply = (response: ServerResponse, status: number, body: object, headers = {}): void => {
  response.writeHead(status, { "Content-Type": "application/json", ...headers });
  response.end(JSON.stringify(body));
};
const succeed = (response: ServerResponse, result: unknown): void => reply(response, 200, { ok: true, result });
const fail = (response: ServerResponse, status: number, description: string): void =>
  reply(response, status, { ok: false, error_code: status, description });
const conflict = (response: ServerResponse, words: string): void => fail(response, 409, `Conflict: ${words}`);

/** Answers with a limit of the service. */
export const limited = (response: ServerResponse, seconds: number): true => {
  const parameters = { retry_after: seconds };
  const body = { ok: false, error_code: 429, description: `Too Many Requests: retry after ${seconds}`, parameters };
  reply(response, 429, body, { "Retry-After": String(seconds) });
  return true;
};
