import type { ChatEvent } from "../../shared/chatEvent.ts";
import type { Channels } from "./channels.ts";

type Telegram = NonNullable<Channels["telegram"]>;
/** The settings about people, which not every channel has. */
type Settings = Partial<Pick<Telegram, "allowFrom" | "owners" | "inbox">>;

/** The one place that decides which people may act through a channel: answer questions, and continue sessions. */
export class ChatAccess {
  readonly #channels: Channels;

  constructor(channels: Channels) {
    this.#channels = channels;
  }

  /** Returns whether people may act through the channel at all, so that its messages have buttons. */
  takesAnswers(channel: string): boolean {
    return this.#settings(channel).allowFrom !== undefined || this.takesAnonymous(channel);
  }

  /** Returns whether whoever reads a message may press its buttons, because the service does not say who did. */
  takesAnonymous(channel: string): boolean {
    return this.#channels.ntfy?.answers === true && channel === "ntfy";
  }

  /** Returns whether a person may act. @param id the service's id of the person */
  mayAct(channel: string, id: string): boolean {
    return this.#settings(channel).allowFrom?.includes(id) ?? false;
  }

  /** Returns whether an act is stored. Only the presses of strangers get an answer. */
  isRead(channel: string, { kind, person }: ChatEvent): boolean {
    return kind === "press" || this.mayAct(channel, person.id);
  }

  /** Returns whether the operator trusts what a person writes. */
  isOwner(channel: string, id: string): boolean {
    return this.#settings(channel).owners?.includes(id) ?? false;
  }

  /** Returns where messages go that answer no reply. */
  inboxOf(channel: string): Settings["inbox"] {
    return this.#settings(channel).inbox;
  }

  #settings(channel: string): Settings {
    return this.#channels[channel as keyof Channels] ?? {};
  }
}
