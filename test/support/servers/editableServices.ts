import type { Behaviour, ChannelServer } from "./channelServer.ts";
import { answers, startChannelServer } from "./channelServer.ts";

/** A message as a chat shows it. */
export interface ShownMessage {
  readonly id: string;
  readonly to: string;
  text: string;
  /** Whether it was sent without a sound. */
  readonly isQuiet: boolean;
  /** The texts that it had before. */
  readonly edits: string[];
}

/** A server that stands for a service whose messages can be edited, with what its chats show. */
export interface EditableService {
  readonly server: ChannelServer;
  readonly messages: ShownMessage[];
  /** Deletes a message, as a person does. */
  remove(message: ShownMessage): void;
  /** Answers the next requests so, before the service looks at them. */
  fail(...behaviours: Behaviour[]): void;
  close(): Promise<void>;
}

type Request = Parameters<Behaviour>[1];

interface Chats {
  readonly messages: ShownMessage[];
  add(to: string, text: string, isQuiet: boolean, id?: string): ShownMessage;
  find(id: unknown): ShownMessage | undefined;
}

/** Answers a request as a service does. */
type Service = (request: Request, chats: Chats) => Behaviour;

function edit(message: ShownMessage, text: string): void {
  message.edits.push(message.text);
  message.text = text;
}

const telegram: Service = ({ path, body }, chats) => {
  const shows = (message: ShownMessage) => answers(200, { ok: true, result: { message_id: Number(message.id) } });
  const refuses = (description: string) =>
    answers(400, { ok: false, error_code: 400, description: `Bad Request: ${description}` });
  if (path.endsWith("/sendMessage"))
    return shows(chats.add(body.chat_id, body.text, body.disable_notification === true));
  const found = chats.find(String(body.message_id));
  if (!found) return refuses("message to edit not found");
  if (found.text === body.text) {
    return refuses("message is not modified: specified new message content and reply markup are exactly the same");
  }
  edit(found, body.text);
  return shows(found);
};

const slack: Service = ({ path, body }, chats) => {
  const shows = ({ id }: ShownMessage) => answers(200, { ok: true, channel: body.channel, ts: id });
  if (path.endsWith("/chat.postMessage")) return shows(chats.add(body.channel, body.markdown_text, false));
  const found = chats.find(body.ts);
  if (!found) return answers(200, { ok: false, error: "message_not_found" });
  edit(found, body.markdown_text);
  return shows(found);
};

const discord: Service = ({ method, path, body }, chats) => {
  const [, , to = "", , id] = path.split("/");
  if (method === "POST") return answers(200, { id: chats.add(to, body.content, (body.flags & 4_096) > 0).id });
  const found = chats.find(id);
  if (!found) return answers(404, { code: 10_008, message: "Unknown Message" });
  edit(found, body.content);
  return answers(200, { id });
};

const mattermost: Service = ({ method, path, body }, chats) => {
  if (method === "POST") return answers(201, { id: chats.add(body.channel_id, body.message, false).id });
  const found = chats.find(path.split("/")[4]);
  if (!found) return answers(404, { id: "app.post.get.app_error", status_code: 404 });
  edit(found, body.message);
  return answers(200, { id: found.id });
};

/** @param knowsSequences whether messages of one sequence replace each other, as they do since version 2.16 */
const ntfyService =
  (knowsSequences: boolean): Service =>
  ({ path, headers, text }, chats) => {
    const sequence = headers["x-sequence-id"];
    const isQuiet = Number(headers.priority) < 3;
    const found = knowsSequences && sequence !== undefined ? chats.find(sequence) : undefined;
    if (found) edit(found, text);
    else chats.add(path.slice(1), text, isQuiet, knowsSequences ? (sequence as string | undefined) : undefined);
    const id = { id: `n${chats.messages.length}`, event: "message" };
    return answers(200, { ...id, ...(knowsSequences && sequence !== undefined && { sequence_id: sequence }) });
  };

const SERVICES = { telegram, slack, discord, mattermost, ntfy: ntfyService(true), oldNtfy: ntfyService(false) };
export type ServiceName = keyof typeof SERVICES;

/** Starts a server that behaves as a service does. */
export async function startEditableService(name: ServiceName): Promise<EditableService> {
  const messages: ShownMessage[] = [];
  const failures: Behaviour[] = [];
  const chats: Chats = {
    messages,
    add(to, text, isQuiet, id = String(1_000 + messages.length)) {
      const message = { id, to, text, isQuiet, edits: [] };
      messages.push(message);
      return message;
    },
    find: (id) => messages.find((one) => one.id === id),
  };
  const server = await startChannelServer((response, request) => {
    const behave = failures.shift() ?? SERVICES[name](request, chats);
    return behave(response, request);
  });
  return {
    server,
    messages,
    remove: (message) => void messages.splice(messages.indexOf(message), 1),
    fail: (...behaviours) => void failures.push(...behaviours),
    close: () => server.close(),
  };
}
