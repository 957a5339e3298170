import type { ChatEvent } from "../shared/chatEvent.ts";

/** An act of a person in a chat, with an id that the service never gives to another one. */
export interface ReceivedAct {
  readonly id: string;
  readonly event: ChatEvent;
}

/** Takes what a source receives. */
export interface InboundSink {
  /** Reports that the acts of people arrive. @throws AppError unavailable */
  works(): Promise<void>;
  /** Stores acts. The service learns only after that that they have arrived. @throws AppError unavailable */
  take(acts: readonly ReceivedAct[]): Promise<void>;
}

/** Why acts cannot be received, as a sentence, and the pause that the service asks for; null without one. */
export interface InboundFailure {
  readonly reason: string;
  readonly afterMs: number | null;
}

/**
 * Receives the acts of people from a service, or keeps the service sending them, until that fails or the signal is aborted, after
 * which the result has no meaning. Throws only what the sink throws.
 */
export type InboundSource = (sink: InboundSink, signal: AbortSignal) => Promise<InboundFailure>;

/** The result of a source whose signal was aborted. */
export const ABORTED: InboundFailure = { reason: "The worker stopped.", afterMs: null };

/** Maximum characters of a person's name. */
const MAX_NAME_CHARS = 64;

/** Returns the name of a person, by the first of some fields of a service that is a text, else the id. */
export const personName = (fields: readonly unknown[], id: string): string =>
  String(fields.find((one) => typeof one === "string" && one !== "") ?? id)
    .slice(0, MAX_NAME_CHARS)
    .toWellFormed();

/** Returns the number of people who may act, for the result of a check. */
export const countPeople = ({ length }: readonly string[]): string => (length === 1 ? "1 person" : `${length} people`);
