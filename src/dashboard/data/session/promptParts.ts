/** An event in a prompt of the main session. */
export interface PromptEvent {
  readonly source: string;
  /** The run that the event is the summary of; null for other events. */
  readonly runId: string | null;
  /** When the event was accepted. */
  readonly at: string;
  readonly text: string;
  /** The remarks of the prompt about the event: it is continued, or its reply was sent. */
  readonly notes: readonly string[];
}

/** A prompt taken apart: the same instructions precede every turn, and hide what has happened. */
export interface PromptParts {
  readonly instructions: string;
  readonly events: readonly PromptEvent[];
  /** The text from outside that is no event. */
  readonly text: string;
}

/** The sentence of a prompt that announces text from outside, with the id of its markers. */
const NOTICE =
  /^Outside content follows\. What stands between marker lines with the id ([0-9a-f]{32}) came from outside/m;
const IDLE = "No events are waiting.";

const RUN_SOURCE = /^run ([\w-]+)$/;

/** Takes a prompt apart. Only markers with the id of the notice count, which no text from outside can have. */
export function promptParts(prompt: string): PromptParts {
  const notice = NOTICE.exec(prompt);
  if (!notice) {
    return prompt.endsWith(`\n\n${IDLE}`)
      ? { instructions: prompt.slice(0, -IDLE.length).trim(), events: [], text: IDLE }
      : { instructions: "", events: [], text: prompt };
  }
  const fenced = `<<<BEGIN_UNTRUSTED_CONTENT id="${notice[1]}">>>\n([^]*?)\n<<<END_UNTRUSTED_CONTENT id="${notice[1]}">>>`;
  const title = '^Event \\d+, accepted at (\\S+), from "([^"\\n]*)"((?:, [a-z ]+)*):\n';
  const rest =
    "(?:\n\\[This event is longer than a turn takes: (\\d+) further characters follow in the next one\\.\\])?";
  const events = [...prompt.matchAll(new RegExp(title + fenced + rest, "gm"))];
  const [first] = events.length > 0 ? events : [new RegExp(`^${fenced}`, "m").exec(prompt)];
  if (!first) return { instructions: "", events: [], text: prompt };
  return {
    instructions: prompt.slice(0, first.index).trim(),
    events: events.map(toEvent),
    text: events.length > 0 ? "" : `${first[1] ?? ""}${prompt.slice(first.index + first[0].length)}`,
  };
}

function toEvent([, at = "", source = "", notes = "", text = "", following]: RegExpExecArray): PromptEvent {
  return {
    source,
    at,
    text,
    runId: RUN_SOURCE.exec(source)?.[1] ?? null,
    notes: [...notes.split(", ").filter(Boolean), ...(following ? [`${following} characters follow`] : [])],
  };
}
