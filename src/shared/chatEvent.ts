/** The person who acts in a chat, by the service's id. The name is what the person chose. */
interface ChatPerson {
  readonly id: string;
  readonly name: string;
}

/** A press of a button of a question. */
export interface ButtonPress {
  readonly kind: "press";
  readonly person: ChatPerson;
  /** The random id of the message's buttons. */
  readonly button: string;
  readonly action: "accept" | "decline";
  /** The name of the message with the button, as in the `refs` of a sent message. */
  readonly ref: string;
  /** The values that the service needs to answer the press. */
  readonly reply: string;
}

/** A text that a person has written. */
export interface ChatMessage {
  readonly kind: "message";
  readonly person: ChatPerson;
  readonly text: string;
  /** Whether the person passes on a text of somebody else. */
  readonly isForwarded: boolean;
  /** The recipient of an answer in the same chat and thread. */
  readonly to: string;
  /** The names of the messages and threads that it may answer, as in the `refs` of a sent message; the closest first. */
  readonly answers: readonly string[];
}

/** An act of a person in a chat, as every service's module reads it from the service's updates. */
export type ChatEvent = ButtonPress | ChatMessage;

const BUTTON = /^([ad]):([\w-]{22})$/;

/** Returns the data of a button: at most 64 bytes, the limit of Telegram. */
export const buttonData = (button: string, action: ButtonPress["action"]): string => `${action.charAt(0)}:${button}`;

/** Returns the address at which the press of a button answers its question. Whoever has it may press, once. */
export const pressUrl = (publicUrl: string, data: string): string =>
  `${publicUrl.replace(/\/$/, "")}/answer/press/${encodeURIComponent(data)}`;

/** Reads the data of a button that was pressed; undefined for a button of somebody else. */
export function readButtonData(data: unknown): Pick<ButtonPress, "button" | "action"> | undefined {
  const [, action, button] = (typeof data === "string" && BUTTON.exec(data)) || [];
  return button === undefined ? undefined : { button, action: action === "a" ? "accept" : "decline" };
}
