import { setTimeout as pause } from "node:timers/promises";
import { answers, type Behaviour, startChannelServer } from "../../support/servers/channelServer.ts";
import type { Notification, Post, Turn } from "../checks/history.ts";
import type { Random } from "../random.ts";

/** The start of the main session's prompts. */
export const MAIN_PROMPT = "This is the turn of the main session.";

/** Matches the marks of hooks. */
export const MARK = /op\d+z/g;

/** The rule whose receiver answers each webhook with 410, so that its deliveries fail. */
export const GONE_RULE = "gone";

/** Builds the text of a wake hook's event. */
export const wakeText = (mark: string) => `It rang for ${mark}.`;

/** Builds a reply of two paragraphs, which become two messages in a channel with short messages. */
export const paragraphsOf = (mark: string, answer: string): string[] =>
  ["first", "second"].map((part) => `${mark} ${answer} ${part}: long enough that two paragraphs exceed one message.`);

/** Maximum characters of a Mattermost message here: fewer than both paragraphs of a reply. */
export const MAX_POST_LENGTH = 120;

/** How long Mattermost deduplicates posts by their key. */
const DEDUPLICATION_MS = 30_000;

export interface Services {
  readonly modelUrl: string;
  readonly mattermostUrl: string;
  readonly telegramUrl: string;
  readonly turns: Turn[];
  /** The messages in the chats, in the order of arrival. */
  readonly posts: Post[];
  readonly receiverUrl: string;
  /** Answers each webhook with 410. */
  readonly goneUrl: string;
  /** Answers 503 to half of the webhooks when they arrive first. */
  readonly flakyUrl: string;
  /** The webhooks in the order of arrival. */
  readonly received: Notification[];
  /** The ids of the webhooks that the receiver at `flakyUrl` has accepted. */
  readonly accepted: Set<string>;
  close(): Promise<void>;
}

/**
 * Starts a model server, a Mattermost that deduplicates posts by their keys for a while, a Telegram without keys, a receiver of
 * webhooks, one that fails half of the time, and one that is gone.
 */
export async function startServices(random: Random): Promise<Services> {
  const turns: Turn[] = [];
  const posts: Post[] = [];
  const received: Notification[] = [];
  const postedAt = new Map<string, number>();

  const model: Behaviour = async (response, request) => {
    const content = String(request.body.messages.at(-1).content);
    const answer = `t${turns.length}z`;
    const isMain = content.startsWith(MAIN_PROMPT);
    const marks = content.match(MARK) ?? [];
    const mark = isMain ? null : (marks[0] ?? "");
    const eventMarks = isMain ? [...content.matchAll(/It rang for (op\d+z)/g)].map(([, mark]) => mark ?? "") : [];
    turns.push({ mark, eventMarks, answer });
    await pause(random.whole(5, 150));
    const isNews = turns.length % 3 === 0;
    const reply = mark !== null ? paragraphsOf(mark, answer).join("\n\n") : isNews ? `News ${answer}` : "HEARTBEAT_OK";
    const message = { role: "assistant", content: reply };
    answers(200, { choices: [{ index: 0, message, finish_reason: "stop" }] })(response, request);
  };
  const mattermost: Behaviour = (response, request) => {
    const { pending_post_id: key, channel_id: to, message } = request.body;
    const now = performance.now();
    if (now - (postedAt.get(key) ?? Number.NEGATIVE_INFINITY) > DEDUPLICATION_MS) {
      postedAt.set(key, now);
      posts.push({ channel: "mattermost", to, text: message });
    }
    answers(201, { id: key, channel_id: to, message, pending_post_id: key })(response, request);
  };
  const telegram: Behaviour = (response, request) => {
    const { chat_id: to, text } = request.body;
    posts.push({ channel: "telegram", to: String(to), text });
    answers(200, { ok: true, result: { message_id: posts.length, chat: { id: 1 } } })(response, request);
  };
  const receiver: Behaviour = (response, request) => {
    const { type, data } = request.body;
    const id = String(request.headers["webhook-id"]);
    received.push({ id, type, subject: subjectOf(data), atMs: performance.now() });
    answers(204, undefined)(response, request);
  };
  const accepted = new Set<string>();
  const refused = new Set<string>();
  const flaky: Behaviour = (response, request) => {
    const id = String(request.headers["webhook-id"]);
    const isRefused = !refused.has(id) && random.whole(0, 1) === 0;
    (isRefused ? refused : accepted).add(id);
    answers(isRefused ? 503 : 204, undefined)(response, request);
  };
  const behaviours = [model, mattermost, telegram, receiver, answers(410), flaky];
  const servers = await Promise.all(behaviours.map((usual) => startChannelServer(usual)));
  const [modelUrl = "", mattermostUrl = "", telegramUrl = "", receiverUrl = "", goneUrl = "", flakyUrl = ""] =
    servers.map(({ url }) => url);
  return {
    modelUrl: `${modelUrl}/v1`,
    mattermostUrl,
    telegramUrl,
    receiverUrl,
    goneUrl,
    flakyUrl,
    turns,
    posts,
    received,
    accepted,
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

interface NotificationData {
  readonly job?: { readonly jobId: string };
  readonly run?: { readonly runId: string };
  readonly gate?: { readonly key: string };
  readonly delivery?: { readonly deliveryId: string };
}

function subjectOf({ job, run, gate, delivery }: NotificationData): string {
  if (gate) return `gate ${job?.jobId}/${gate.key}`;
  if (delivery) return `delivery ${delivery.deliveryId}`;
  return job ? `job ${job.jobId}` : `run ${run?.runId}`;
}
