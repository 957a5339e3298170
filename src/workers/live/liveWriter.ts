import { findProgress } from "../../models/jobs/read/followedJobs.ts";
import type { Stores } from "../../models/stores.ts";
import { subjectPath } from "../../shared/notifications/catalogue.ts";
import { withPoint } from "../../shared/timeLeft.ts";
import type { Rule } from "../notify/rule.ts";
import { type ChannelUse, Chat, type Followed } from "./chat.ts";
import { FollowedJobs } from "./followedJobs.ts";
import { deletedText, onOneLine, progressText } from "./progressText.ts";
import { type LiveChannel, type Shown, type WriteDeps, type WriteOutcome, writeMessage } from "./writeMessage.ts";

export interface LiveDeps extends WriteDeps {
  readonly stores: Stores;
  /** The live rules. */
  readonly rules: readonly Rule[];
  /** The channels of these rules, by name. */
  readonly channels: ReadonlyMap<string, LiveChannel>;
  readonly publicUrl: string | undefined;
}

/** Writes the messages of all live rules, one request at a time for each chat. Only the holder of the lease has one. */
export class LiveWriter {
  readonly jobs: FollowedJobs;
  readonly #deps: LiveDeps;
  readonly #chats = new Map<string, Chat>();
  readonly #uses = new Map<string, ChannelUse>();
  readonly #requests = new Set<Promise<void>>();

  constructor(deps: LiveDeps) {
    this.#deps = deps;
    const { stores, clock, rules, timings } = deps;
    this.jobs = new FollowedJobs({
      stores,
      clock,
      rules,
      afterMs: timings.live.afterMs,
      chatOf: (rule) => this.#chatOf(rule),
    });
  }

  /** Starts the requests whose turn has come. */
  start(signal: AbortSignal): void {
    for (const chat of this.#chats.values()) {
      const message = chat.take(performance.now());
      if (!message) continue;
      chat.isBusy = true;
      const request = this.#write(message, signal).finally(() => {
        chat.isBusy = false;
        this.#requests.delete(request);
      });
      this.#requests.add(request);
    }
  }

  /** Waits for the requests that are under way. */
  async close(): Promise<void> {
    await Promise.all(this.#requests);
  }

  /** Never throws: a message that cannot be written stops no other. */
  async #write(message: Followed, signal: AbortSignal): Promise<void> {
    const { log, timings } = this.#deps;
    const { chat } = message;
    const outcome = await this.#tryWrite(message, signal).catch((error: unknown): WriteOutcome => {
      log.debug({ err: error }, "a live message could not be written; it is tried again");
      return { kind: "later", ms: timings.lease.renewEveryMs };
    });
    if (outcome?.kind === "shown") message.isShown = true;
    if (outcome?.kind === "over") message.isOver = true;
    if (outcome?.kind !== "later") return;
    const now = performance.now();
    message.text = undefined;
    message.notBefore = now + outcome.ms;
    if (outcome.chatMs !== undefined) chat.rest(outcome.chatMs, now);
    chat.add(message);
  }

  /** Returns undefined if there is nothing to write. */
  async #tryWrite(message: Followed, signal: AbortSignal): Promise<WriteOutcome | undefined> {
    const { chat } = message;
    const channel = this.#deps.channels.get(chat.channel);
    const shown = await this.#show(message);
    if (!channel || !shown || shown.markdown === message.text) return undefined;
    message.text = shown.markdown;
    chat.countRequest(performance.now(), { isEdit: message.isShown });
    return writeMessage(this.#deps, channel, message, { shown, signal });
  }

  /** Returns the text of a message now; undefined if its job has ended: the delivery of the end shows that. */
  async #show(message: Followed): Promise<Shown | undefined> {
    const { stores, clock, publicUrl } = this.#deps;
    const { job } = message;
    const progress = message.isDeleted ? null : await findProgress(stores.jobs, { _id: job.job, jobId: job.jobId });
    if (progress === null) return { markdown: deletedText(job.name), title: onOneLine(job.name), times: undefined };
    if (progress.status !== "running") return undefined;
    const { lastReportAt, createdAt } = progress;
    const point = { at: (lastReportAt ?? createdAt).getTime(), progress: progress.progress };
    message.points = withPoint(message.points, point);
    const link =
      publicUrl === undefined ? undefined : publicUrl + subjectPath("job.completed", { job: progress } as never);
    const markdown = progressText(progress, message.points, clock.now(), link);
    return { markdown, title: onOneLine(progress.name ?? progress.jobId), link, times: progress };
  }

  #chatOf({ to: { channel = "last", to = "" } }: Rule): Chat {
    const recipient = to.trim();
    const key = `${channel} ${recipient}`;
    const known = this.#chats.get(key);
    if (known) return known;
    const use = this.#uses.get(channel) ?? { lastRequestAt: Number.NEGATIVE_INFINITY };
    this.#uses.set(channel, use);
    const {
      editMs = 0,
      firstMs = 0,
      channelMs = 0,
    } = this.#deps.channels.get(channel)?.channel.editing?.paceOf(recipient) ?? {};
    const { paceFactor } = this.#deps.timings.live;
    const pace = { editMs: editMs * paceFactor, firstMs: firstMs * paceFactor, channelMs: channelMs * paceFactor };
    const chat = new Chat(channel, recipient, { pace, use });
    this.#chats.set(key, chat);
    return chat;
  }
}
