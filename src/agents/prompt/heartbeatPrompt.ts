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
}

interface HeartbeatTurn {
  /** The operator's prompt, trusted. */
  readonly prompt: string;
  /** Oldest first. */
  readonly events: readonly WaitingEvent[];
  /** Most UTF-16 units the text may have. */
  readonly maxChars: number;
}

/** What is kept of an event however small `maxChars` is. */
const MIN_EVENT_CHARS = 200;

/**
 * The prompt of a heartbeat turn: the operator's prompt, then the waiting events in order, each behind its fence, as many
 * as fit `maxChars` but at least one. `taken` says how many were included; the others wait for another turn.
 * A first event that alone is too large is cut, with a note of how much is missing. Only a `maxChars` that has no room
 * for the prompt, the notice and the first 200 characters of the first event is exceeded, by what these need.
 */
export function heartbeatPrompt(
  { prompt, events, maxChars }: HeartbeatTurn,
  randomId: () => string = randomMarkerId,
): { text: string; taken: number } {
  const [first, ...others] = events;
  if (first === undefined) return { text: `${prompt}\n\nNo events are waiting.`, taken: 0 };
  const id = randomId();
  const title = ({ source, at }: WaitingEvent, index: number) =>
    `Event ${index + 1}, accepted at ${at.toISOString()}, from ${quoteSource(source)}:`;
  const block = (event: WaitingEvent, index: number) =>
    `\n\n${title(event, index)}\n${enclose(defuse(event.text), id)}`;

  const head = `${prompt}\n\n${notice(id, "from the source named before it")}`;
  const whole = head + block(first, 0);
  if (whole.length > maxChars) {
    const room = maxChars - head.length - block({ ...first, text: "" }, 0).length;
    return { text: `${head}\n\n${title(first, 0)}\n${cutToFit(first.text, id, room)}`, taken: 1 };
  }
  let text = whole;
  let taken = 1;
  for (const event of others) {
    const next = block(event, taken);
    if (text.length + next.length > maxChars) break;
    text += next;
    taken++;
  }
  return { text, taken };
}

/** The beginning of a text between its markers, and a note behind them; `room` is what text and note may take. */
function cutToFit(text: string, id: string, room: number): string {
  const note = (kept: number) =>
    `\n[This event is cut: its last ${text.length - kept} of ${text.length} characters are left out.]`;
  const space = Math.max(room - note(0).length, MIN_EVENT_CHARS);
  let kept = Math.min(space, text.length);
  let defused = defuse(text.slice(0, kept));
  while (defused.length > space && kept > MIN_EVENT_CHARS) {
    kept = Math.max(kept - (defused.length - space), MIN_EVENT_CHARS);
    defused = defuse(text.slice(0, kept));
  }
  if (/[\ud800-\udbff]$/.test(text.slice(0, kept))) defused = defuse(text.slice(0, --kept));
  return kept === text.length ? enclose(defused, id) : enclose(defused, id) + note(kept);
}
