import { createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { TestApp } from "../app.ts";
import { acceptSockets, type ServerSocket } from "./webSocketServer.ts";

export const SLACK_SECRET = "8f742231b10e8888abcd99yyyzzz85a5";

// biome-ignore lint/suspicious/noExplicitAny: the bodies of the Web API
type Json = any;

interface SlackUser {
  readonly id: string;
  readonly name: string;
}

/** A message of the bot. */
export interface SlackMessage {
  readonly channel: string;
  readonly ts: string;
  readonly thread: string | undefined;
  text: string;
  /** Its buttons; empty without buttons. */
  buttons: Json[];
}

/**
 * Stands for Slack: keeps the messages of the bot, and sends events and presses as Slack does, to the request URL or over the
 * connections of an app in Socket Mode.
 */
export class SlackServer {
  readonly messages: SlackMessage[] = [];
  /** The messages that only one person sees. */
  readonly ephemeral: { readonly channel: string; readonly user: string; readonly text: string }[] = [];
  /** The connections of the app, in the order of their creation. */
  readonly sockets: ServerSocket[] = [];
  /** The envelopes that were acknowledged. */
  readonly acknowledged: string[] = [];
  /** Whether a new connection is greeted. */
  greets = true;
  /** Whether each connection is to be replaced as soon as it is open. */
  replaces = false;
  /** The error of `apps.connections.open` while it is set. */
  connectionError: string | undefined;
  #last = 1_700_000_000;
  readonly #server = createServer(async (request, response) => {
    const body: Json = await json(request).catch(() => ({}));
    const method = request.url?.split("/").at(-1) ?? "";
    const answer = this.#call(method, body, request.headers.authorization);
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify(answer));
  });

  static async start(): Promise<SlackServer> {
    const server = new SlackServer();
    acceptSockets(server.#server, (socket) => server.#greet(socket));
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/api`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  nextTime(): string {
    this.#last += 1;
    return `${this.#last}.000100`;
  }

  #greet(socket: ServerSocket): void {
    this.sockets.push(socket);
    socket.on("text", (text) => this.acknowledged.push(JSON.parse(text).envelope_id));
    if (this.greets) socket.sendText(JSON.stringify({ type: "hello", num_connections: 1 }));
    if (this.replaces) socket.sendText(JSON.stringify({ type: "disconnect", reason: "warning" }));
  }

  #call(method: string, body: Json, authorization: string | undefined): object {
    if (method === "apps.connections.open") {
      const error = authorization === "Bearer xapp-1" ? this.connectionError : "invalid_auth";
      return error ? { ok: false, error } : { ok: true, url: `${this.url.replace(/^http/, "ws")}/link` };
    }
    if (method === "auth.test") return { ok: true, user: "signalbox", team: "Acme" };
    if (method === "chat.postEphemeral") {
      this.ephemeral.push({ channel: body.channel, user: body.user, text: body.text });
      return { ok: true };
    }
    if (body.blocks && body.markdown_text) return { ok: false, error: "markdown_text_conflict" };
    const fields = { text: textOf(body), buttons: buttonsOf(body) };
    if (method === "chat.postMessage") {
      const message = { channel: body.channel, ts: this.nextTime(), thread: body.thread_ts, ...fields };
      this.messages.push(message);
      return { ok: true, channel: message.channel, ts: message.ts };
    }
    const found = this.messages.find(({ channel, ts }) => channel === body.channel && ts === body.ts);
    if (method !== "chat.update" || !found) return { ok: false, error: "message_not_found" };
    // Slack keeps the blocks of a message when an edit names none.
    Object.assign(found, body.blocks ? fields : { text: fields.text });
    return { ok: true, channel: found.channel, ts: found.ts };
  }

  /** Sends a signed request to the service. @param at the time of the signature */
  send(app: TestApp, text: string, { type = "application/json", at = app.clock.now(), secret = SLACK_SECRET } = {}) {
    const timestamp = String(Math.floor(at.getTime() / 1_000));
    const digest = createHmac("sha256", secret).update(`v0:${timestamp}:${text}`).digest("hex");
    return fetch(`${app.url}/hooks/slack`, {
      method: "POST",
      headers: { "Content-Type": type, "X-Slack-Request-Timestamp": timestamp, "X-Slack-Signature": `v0=${digest}` },
      body: text,
    });
  }

  event(app: TestApp, event: object) {
    return this.send(app, JSON.stringify(callback(event)));
  }

  /** Presses a button of a message. */
  press(app: TestApp, message: SlackMessage, label: string, user: SlackUser) {
    const form = new URLSearchParams({ payload: JSON.stringify(this.#pressed(message, label, user)) }).toString();
    return this.send(app, form, { type: "application/x-www-form-urlencoded" });
  }

  /** Sends an event over the newest connection. @returns the id of its envelope */
  emit(event: object): string {
    return this.sendEnvelope("events_api", callback(event));
  }

  /** Sends the press of a button over the newest connection. @returns the id of its envelope */
  emitPress(message: SlackMessage, label: string, user: SlackUser): string {
    return this.sendEnvelope("interactive", this.#pressed(message, label, user));
  }

  sendEnvelope(type: string, payload: object): string {
    const envelope_id = `envelope-${this.nextTime()}`;
    this.sockets.at(-1)?.sendText(JSON.stringify({ envelope_id, type, payload, accepts_response_payload: false }));
    return envelope_id;
  }

  #pressed(message: SlackMessage, label: string, user: SlackUser): object {
    const button = message.buttons.find(({ text }) => text.text.includes(label));
    return {
      type: "block_actions",
      user,
      container: { type: "message", channel_id: message.channel, message_ts: message.ts },
      actions: [{ ...button, type: "button", action_ts: this.nextTime() }],
    };
  }
}

const callback = (event: object) => ({ type: "event_callback", team_id: "T1", event_id: "Ev1", event });

const textOf = ({ text, markdown_text, blocks }: Json): string =>
  markdown_text ??
  (blocks ?? [])
    .map((block: Json) => (typeof block.text === "string" ? block.text : (block.text?.text ?? "")))
    .join("") ??
  text;

const buttonsOf = ({ blocks = [] }: Json): Json[] =>
  blocks.flatMap(({ type, elements = [] }: Json) => (type === "actions" ? elements : []));
