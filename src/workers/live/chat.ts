import type { Pace } from "../../channels/channel.ts";
import type { LiveJob } from "../../models/notifications/liveMessage.ts";
import type { ProgressPoint } from "../../shared/timeLeft.ts";

/** A message that follows a job by a rule. */
export interface Followed {
  /** The id of its record. */
  readonly id: string;
  readonly chat: Chat;
  readonly job: LiveJob;
  /** Whether the service has it, as far as this process knows. */
  isShown: boolean;
  /** Whether no further request for it is of use. */
  isOver: boolean;
  /** Whether its job was deleted. */
  isDeleted: boolean;
  /** The text that it was last given by this process. */
  text: string | undefined;
  points: readonly ProgressPoint[];
  /** The earliest time of its next request, by the monotonic clock. */
  notBefore: number;
}

/** Maximum messages that are passed over because they must wait. */
const MAX_PASSED_OVER = 50;

/** When the service was last used for live messages, by all chats of the channel. */
export interface ChannelUse {
  lastRequestAt: number;
}

/**
 * The messages of one recipient that wait for a request: those whose job has changed since the last one, and those that are not
 * sent yet. Each message waits once, whatever changes meanwhile, and its text is made when its turn comes.
 */
export class Chat {
  readonly channel: string;
  readonly to: string;
  /** Whether a request is under way. */
  isBusy = false;
  /** Failed requests in a row, and limits without a time. */
  failures = 0;
  readonly #pace: Pace;
  readonly #use: ChannelUse;
  readonly #new = new Set<Followed>();
  readonly #changed = new Set<Followed>();
  #restsUntil = 0;
  #lastRequestAt = Number.NEGATIVE_INFINITY;
  #lastEditAt = Number.NEGATIVE_INFINITY;

  constructor(channel: string, to: string, { pace, use }: { readonly pace: Pace; readonly use: ChannelUse }) {
    this.channel = channel;
    this.to = to;
    this.#pace = pace;
    this.#use = use;
  }

  /** Adds a message behind those that wait. One that waits keeps its place. */
  add(message: Followed): void {
    if (message.isOver) return;
    (message.isShown || message.isDeleted ? this.#changed : this.#new).add(message);
  }

  delete(message: Followed): void {
    this.#new.delete(message);
    this.#changed.delete(message);
  }

  /** Makes no request for a while. */
  rest(ms: number, now: number): void {
    this.#restsUntil = now + ms;
  }

  /** Takes the next message whose turn has come. New messages do not wait for the pace of edits, nor edits for new messages. */
  take(now: number): Followed | undefined {
    const { firstMs, editMs, channelMs } = this.#pace;
    const hasRested = now >= this.#restsUntil && now >= this.#use.lastRequestAt + channelMs;
    if (this.isBusy || !hasRested || now < this.#lastRequestAt + firstMs) return undefined;
    const changed = now >= this.#lastEditAt + editMs ? firstDue(this.#changed, now) : undefined;
    const message = changed ?? firstDue(this.#new, now);
    if (message) this.delete(message);
    return message;
  }

  /** Counts a request, whatever its outcome. */
  countRequest(now: number, { isEdit }: { isEdit: boolean }): void {
    this.#lastRequestAt = now;
    this.#use.lastRequestAt = now;
    if (isEdit) this.#lastEditAt = now;
  }
}

function firstDue(messages: ReadonlySet<Followed>, now: number): Followed | undefined {
  let passedOver = 0;
  for (const message of messages) {
    if (message.notBefore <= now) return message;
    if (++passedOver > MAX_PASSED_OVER) return undefined;
  }
  return undefined;
}
