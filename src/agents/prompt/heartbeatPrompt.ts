import { defuse } from "./defuse.ts";
import { enclose, notice, quoteSource, randomMarkerId } from "./fence.ts";

/** The prompt of a heartbeat whose operator has written none. */
export const DEFAULT_HEARTBEAT_PROMPT = `This is a heartbeat of your main session. Events that have arrived since the last one are waiting; they follow below, oldest first.
Go through them in order. Settle what you can settle within your own instructions. Then write one short message for the user with what they need to know, decide or do; it is sent to them as it stands.
If nothing needs to reach the user, answer exactly HEARTBEAT_OK and nothing else.`;

interface WaitingEvent {
  readonly eventId: string;
  readonly text: string;
  /** Where the event comes from. Not trusted. */
  readonly source: string;
  /** When it was accepted. */
  readonly at: Date;
  /** How many of its UTF-16 units earlier turns were told. */
  readonly told?: number | undefined;
}

interface HeartbeatTurn {
  /** The operator's prompt, trusted. */
  readonly prompt: string;
  /** Oldest first. */
  readonly events: readonly WaitingEvent[];
  /** Most UTF-16 units the text may have. */
  readonly maxChars: number;
}

/** What is told of an event however small `maxChars` is: an event shall not take hundreds of turns. */
const MIN_EVENT_CHARS = 1_000;

/**
 * The prompt of a heartbeat turn: the operator's prompt, then the waiting events in order, each behind its fence, as many
 * as fit `maxChars`. `taken` says how many were included; the others wait for another turn. Of a first event that alone is
 * too large a part is included, with a note of how much is to follow; `told` says how many of its UTF-16 units this turn and
 * those before were told then. Only a `maxChars` that has no room for the prompt, the notice and 1,000 characters of the
 * first event is exceeded, by what these need.
 */
export function heartbeatPrompt(
  { prompt, events, maxChars }: HeartbeatTurn,
  randomId: () => string = randomMarkerId,
): { text: string; taken: number; told: number } {
  const [first, ...others] = events;
  if (first === undefined) return { text: `${prompt}\n\nNo events are waiting.`, taken: 0, told: 0 };
  const id = randomId();
  const title = ({ source, at, told }: WaitingEvent, index: number) =>
    `Event ${index + 1}, accepted at ${at.toISOString()}, from ${quoteSource(source)}${told ? ", continued" : ""}:`;
  const rest = ({ text, told }: WaitingEvent) => text.slice(told);
  const block = (event: WaitingEvent, index: number) =>
    `\n\n${title(event, index)}\n${enclose(defuse(rest(event)), id)}`;

  const head = `${prompt}\n\n${notice(id, "from the source named before it")}`;
  // what is too long by itself is not looked through as a whole for each of its parts
  const whole = rest(first).length > maxChars ? undefined : head + block(first, 0);
  if (whole === undefined || whole.length > maxChars) {
    const room = maxChars - head.length - block({ ...first, text: "" }, 0).length;
    const part = partOf(rest(first), id, room);
    const told = (first.told ?? 0) + part.length;
    const end = told < first.text.length ? { taken: 0, told } : { taken: 1, told: 0 };
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
  return { text, taken, told: 0 };
}

/**
 * The beginning of a text between its markers, and a note behind them; `room` is what text and note may take.
 * @returns and how much of the text it is
 */
function partOf(text: string, id: string, room: number): { text: string; length: number } {
  const note = (kept: number) =>
    `\n[This event is longer than a turn takes: ${text.length - kept} further characters follow in the next one.]`;
  const space = Math.max(room - note(0).length, MIN_EVENT_CHARS);
  let kept = Math.min(space, text.length);
  let defused = defuse(text.slice(0, kept));
  while (defused.length > space && kept > MIN_EVENT_CHARS) {
    kept = Math.max(kept - (defused.length - space), MIN_EVENT_CHARS);
    defused = defuse(text.slice(0, kept));
  }
  if (kept < text.length && /[\ud800-\udbff]$/.test(text.slice(0, kept))) defused = defuse(text.slice(0, --kept));
  return { text: enclose(defused, id) + (kept < text.length ? note(kept) : ""), length: kept };
}
