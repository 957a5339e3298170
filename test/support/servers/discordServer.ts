import { generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { TestApp } from "../app.ts";

// biome-ignore lint/suspicious/noExplicitAny: the bodies of the API
type Json = any;

/** A message of the bot. */
export interface DiscordMessage {
  readonly channel: string;
  readonly id: string;
  text: string;
  /** Its buttons; empty without buttons. */
  buttons: Json[];
}

interface DiscordUser {
  readonly id: string;
  readonly username: string;
  readonly global_name?: string;
}

/** Stands for Discord: keeps the messages of the bot, and sends signed interactions as Discord does. */
export class DiscordServer {
  readonly messages: DiscordMessage[] = [];
  /** The messages that only one person sees, with the token of the interaction that they answer. */
  readonly ephemeral: { readonly token: string; readonly text: string }[] = [];
  /** The address that the application has for interactions. */
  endpoint: string | null = null;
  /** Answers requests in place of the server while it is set. Returns false to let the server answer. */
  fault: ((method: string, path: string, response: ServerResponse) => boolean) | undefined;
  readonly #keys = generateKeyPairSync("ed25519");
  #last = 1_300_000_000_000_000_000n;
  readonly #server = createServer(async (request, response) => {
    const body: Json = await json(request).catch(() => ({}));
    const { method = "", url: path = "" } = request;
    if (this.fault?.(method, path, response)) return;
    const [status, answer] = this.#call(method, path, body);
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(JSON.stringify(answer));
  });

  static async start(): Promise<DiscordServer> {
    const server = new DiscordServer();
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The public key of the application, as the developer portal shows it. */
  get publicKey(): string {
    return Buffer.from(this.#keys.publicKey.export({ format: "jwk" }).x ?? "", "base64url").toString("hex");
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  nextId(): string {
    this.#last += 1n;
    return String(this.#last);
  }

  #call(method: string, path: string, body: Json): [status: number, answer: object] {
    const [, kind, first = "", second = "", id] = path.split("/");
    if (path === "/users/@me") return [200, { id: "5", username: "signalbox", bot: true }];
    if (path === "/applications/@me") {
      return [200, { id: "6", verify_key: this.publicKey, interactions_endpoint_url: this.endpoint }];
    }
    if (kind === "webhooks") {
      if (body.flags !== (64 | 4)) return [400, { code: 50_035 }];
      this.ephemeral.push({ token: second, text: body.content });
      return [200, { id: this.nextId() }];
    }
    const fields = { text: body.content, ...(body.components && { buttons: buttonsOf(body) }) };
    if (method === "POST") {
      const message = { channel: first, id: this.nextId(), buttons: [], ...fields };
      this.messages.push(message);
      return [200, { id: message.id, channel_id: first }];
    }
    const found = this.messages.find((one) => one.channel === first && one.id === id);
    if (!found) return [404, { code: 10_008 }];
    Object.assign(found, fields);
    return [200, { id }];
  }

  /** Sends an interaction to the service. @param signed what is signed in place of the interaction */
  send(app: TestApp, interaction: object | string, { at = app.clock.now(), signed = "" } = {}) {
    const text = typeof interaction === "string" ? interaction : JSON.stringify(interaction);
    const timestamp = String(Math.floor(at.getTime() / 1_000));
    const signature = sign(null, Buffer.from(timestamp + (signed || text)), this.#keys.privateKey).toString("hex");
    return fetch(`${app.url}/hooks/discord`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        "X-Signature-Ed25519": signature,
        "X-Signature-Timestamp": timestamp,
      },
      body: text,
    });
  }

  /** Presses a button of a message, in a server or in a direct message. @returns the response, and the token of the interaction */
  async press(app: TestApp, message: DiscordMessage, label: string, user: DiscordUser, isDirect = false) {
    const button = message.buttons.find((one) => one.label.includes(label));
    const token = `token-${this.nextId()}`;
    const interaction = {
      id: this.nextId(),
      application_id: "6",
      type: 3,
      token,
      ...(isDirect ? { user } : { guild_id: "9", member: { user, roles: [] } }),
      channel_id: message.channel,
      message: { id: message.id },
      data: { component_type: 2, custom_id: button?.custom_id },
    };
    return { interaction, token, response: await this.send(app, interaction) };
  }
}

const buttonsOf = ({ components }: Json): Json[] => components.flatMap((row: Json) => row.components);
