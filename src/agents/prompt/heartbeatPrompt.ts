import { enclose, notice, quoteSource, randomMarkerId } from "./fence.ts";
import { neutralize } from "./neutralize.ts";

/** The prompt of heartbeats if the operator configured none. */
export const DEFAULT_HEARTBEAT_PROMPT = `This is a heartbeat of your main session. Events that have arrived since the last one are waiting; they follow below, oldest first.
Go through them in order. Settle what you can settle within your own instructions. Then write one short message for the user with what they need to know, decide or do; it is sent to them as it stands.
Do not repeat what an event's run has already sent to the user by itself.
If nothing needs to reach the user, answer exactly HEARTBEAT_OK and nothing else.`;

interface WaitingEvent {
  readonly eventId: string;
  readonly text: string;
  /** The origin of the event. Not trusted. */
  readonly source: string;
  /** The time of acceptance. */
  readonly at: Date;
  /** How many UTF-16 units of the text the prompts of earlier turns contained. */
  readonly sentChars?: number | undefined;
  /** Whether the event is the summary of a run that delivers its reply to the user by itself. */
  readonly isDelivered?: boolean | undefined;
}

interface HeartbeatTurn {
  /** The operator's prompt, trusted. */
  readonly prompt: string;
  /** Oldest first. */
  readonly events: readonly WaitingEvent[];
  /** Maximum UTF-16 units of the prompt. */
  readonly maxChars: number;
}

/** Minimum characters of an event in a prompt, whatever `maxChars` is, so that no event takes hundreds of turns. */
const MIN_EVENT_CHARS = 1_000;

/**
 * Returns the prompt of a heartbeat turn: the operator's prompt, then as many of the waiting events as fit into `maxChars`,
 * in order and fenced. The prompt exceeds `maxChars` only if that has no room for the operator's prompt, the notice and
 * 1,000 characters of the first event.
 *
 * If the first event alone is too large, the prompt contains a part of it and a note on how much follows.
 * @returns `taken`: how many events are included completely; the others wait for another turn. `sentChars`: how many UTF-16 units
 *   of an event that is included in part were in this prompt and earlier ones, else 0
 */
export function heartbeatPrompt(
  { prompt, events, maxChars }: HeartbeatTurn,
  randomId: () => string = randomMarkerId,
): { text: string; taken: number; sentChars: number } {
  const [first, ...others] = events;
  if (first === undefined) return { text: `${prompt}\n\nNo events are waiting.`, taken: 0, sentChars: 0 };
  const id = randomId();
  const title = ({ source, at, sentChars, isDelivered }: WaitingEvent, index: number) =>
    `Event ${index + 1}, accepted at ${at.toISOString()}, from ${quoteSource(source)}${sentChars ? ", continued" : ""}${isDelivered ? ", whose reply was sent to the user already" : ""}:`;
  const rest = ({ text, sentChars }: WaitingEvent) => text.slice(sentChars);
  const block = (event: WaitingEvent, index: number) =>
    `\n\n${title(event, index)}\n${enclose(neutralize(rest(event)), id)}`;

  const head = `${prompt}\n\n${notice(id, "from the source named before it")}`;
  // An event that is too long even by itself is not neutralized as a whole for each of its parts.
  const whole = rest(first).length > maxChars ? undefined : head + block(first, 0);
  if (whole === undefined || whole.length > maxChars) {
    const room = maxChars - head.length - block({ ...first, text: "" }, 0).length;
    const part = partOf(rest(first), id, room);
    const sentChars = (first.sentChars ?? 0) + part.length;
    const end = sentChars < first.text.length ? { taken: 0, sentChars } : { taken: 1, sentChars: 0 };
    return { text: `${head}\n\n${title(first, 0)}\n${part.text}`, ...end };
  }
  let text = whole;
  let taken = 1;
  for (const event of others) {
    const next = block(event, taken);
    if (text.length + next.length > maxChars) break;
    text += next;
    taken++;
  }
  return { text, taken, sentChars: 0 };
}

/**
 * Returns the beginning of a text between its markers, followed by a note on the rest.
 * @param room maximum characters of text and note
 * @returns `length`: how many characters of the text are included
 */
function partOf(text: string, id: string, room: number): { text: string; length: number } {
  const note = (kept: number) =>
    `\n[This event is longer than a turn takes: ${text.length - kept} further characters follow in the next one.]`;
  const space = Math.max(room - note(0).length, MIN_EVENT_CHARS);
  let kept = Math.min(space, text.length);
  let neutralized = neutralize(text.slice(0, kept));
  while (neutralized.length > space && kept > MIN_EVENT_CHARS) {
    kept = Math.max(kept - (neutralized.length - space), MIN_EVENT_CHARS);
    neutralized = neutralize(text.slice(0, kept));
  }
  if (kept < text.length && /[\ud800-\udbff]$/.test(text.slice(0, kept)))
    neutralized = neutralize(text.slice(0, --kept));
  return { text: enclose(neutralized, id) + (kept < text.length ? note(kept) : ""), length: kept };
}
