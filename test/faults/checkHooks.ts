import type { History, Hook, StoredRun } from "./history.ts";
import { MARK, wakeText } from "./services.ts";
import type { Violation } from "./violation.ts";

/** Maximum attempts of a turn; see docs/reference/hooks.md. */
const MOST_TRIES = 3;

const isEvent = ({ hook }: Hook): boolean => hook === "wake" || hook === "event";

const marksIn = (text: string): Set<string> => new Set(text.match(MARK));

/** Returns the runs of each mark. */
export function runsByMark(runs: readonly StoredRun[]): Map<string, StoredRun[]> {
  const marked = runs.flatMap((run) => [...marksIn(run.message)].map((mark) => ({ mark, run })));
  return new Map(
    [...Map.groupBy(marked, ({ mark }) => mark)].map(([mark, found]) => [mark, found.map(({ run }) => run)]),
  );
}

/**
 * Checks that each acknowledged hook and each Idempotency-Key had one effect, and that the main session got each event.
 */
export function checkHooks({ hooks, turns, stored }: Pick<History, "hooks" | "turns" | "stored">): Violation[] {
  const found: Violation[] = [];
  const runs = runsByMark(stored.runs);
  const ids = new Set([...stored.runs, ...stored.events].map(({ id }) => id));
  const events = Map.groupBy(stored.events, ({ text }) => text);
  const eventMarks = new Set(turns.flatMap((turn) => turn.eventMarks));
  for (const hook of hooks) {
    const say = (kind: Violation["kind"], what: string) => found.push({ kind, what: `hook ${hook.mark}: ${what}` });
    const [first, ...others] = hook.answers;
    if (others.some((answer) => JSON.stringify(answer) !== JSON.stringify(first))) {
      say("doubled", `its key was answered with ${JSON.stringify(hook.answers)}`);
    }
    if (!first) say("stuck", "it was never acknowledged");
    for (const id of first ?? []) if (!ids.has(id)) say("lost", `${id} was answered and is not there`);
    for (const mark of hook.marks) {
      const made = isEvent(hook) ? (events.get(wakeText(mark)) ?? []) : (runs.get(mark) ?? []);
      if (made.length > 1) say("doubled", `${mark} became ${made.map(({ id }) => id).join(", ")}`);
      if (first && made.length === 0) say("lost", `nothing came of ${mark}`);
      if (first && isEvent(hook) && !eventMarks.has(mark)) say("lost", `the main session was never told of ${mark}`);
    }
  }
  for (const { id, waiting } of stored.events) {
    if (waiting) found.push({ kind: "stuck", what: `event ${id}: no turn took it` });
  }
  return found;
}

/** Checks that each run ended once: its reply, its summary and its transcript come from the same turn. */
export function checkRuns({ turns, stored }: Pick<History, "turns" | "stored">): Violation[] {
  const found: Violation[] = [];
  const turnsOf = Map.groupBy(turns, ({ mark }) => mark);
  const summaries = Map.groupBy(stored.events, ({ source }) => source);
  const answered = new Map(
    [...Map.groupBy(stored.messages, ({ sessionKey }) => sessionKey)].map(([sessionKey, messages]) => [
      sessionKey,
      messages.filter(({ role }) => role === "assistant"),
    ]),
  );
  for (const { id, message, status, settled, attempts, reply, error, sessionKey } of stored.runs) {
    const say = (kind: Violation["kind"], what: string) => found.push({ kind, what: `run ${id}: ${what}` });
    if (!settled) say("stuck", `it is ${status} and was not seen through`);
    const [mark] = marksIn(message);
    if (mark === undefined || !settled) continue; // The hook became an event.
    const asked = turnsOf.get(mark) ?? [];
    if (asked.length > MOST_TRIES) say("doubled", `the agent was asked ${asked.length} times`);
    const runSummaries = summaries.get(`run ${id}`) ?? [];
    if (runSummaries.length !== 1)
      say(runSummaries.length === 0 ? "lost" : "doubled", `the main session has ${runSummaries.length} summaries`);
    const said = (answered.get(sessionKey) ?? []).filter(({ content }) => marksIn(content).has(mark));
    if (status !== "completed") {
      if (attempts < MOST_TRIES) say("lost", `it ${status} after ${attempts} tries: ${error}`);
      if (said.length > 0) say("ended twice", `it ${status} and is in the transcript`);
      continue;
    }
    const turn = asked.find(({ answer }) => reply?.startsWith(`${mark} ${answer} `));
    if (!turn) {
      say("lost", `its reply ${JSON.stringify(reply)} is none that the agent gave`);
      continue;
    }
    if (said.length !== 1) say(said.length === 0 ? "lost" : "doubled", `the transcript has it ${said.length} times`);
    const traces = [...said.map(({ content }) => content), ...runSummaries.map(({ text }) => text)];
    if (!traces.every((text) => text.includes(`${mark} ${turn.answer} `))) {
      say("ended twice", `its reply is that of ${turn.answer}, its traces say ${JSON.stringify(traces)}`);
    }
  }
  return found;
}

/** Checks that the runs of a session ran in the order of acceptance, in their first turns and in the transcript. */
export function checkSessions({ hooks, turns, stored }: Pick<History, "hooks" | "turns" | "stored">): Violation[] {
  const found: Violation[] = [];
  const firstTurns = [...new Set(turns.flatMap(({ mark }) => mark ?? []))];
  for (const [session, ofSession] of Map.groupBy(hooks, ({ session }) => session)) {
    if (session === null) continue;
    const accepted = ofSession.map(({ mark }) => mark);
    const own = new Set(accepted);
    const transcript = stored.messages.filter(({ sessionKey, role }) => sessionKey === session && role === "user");
    const lists = {
      "the agent was asked": firstTurns.filter((mark) => own.has(mark)),
      "the transcript goes": [...new Set(transcript.flatMap(({ content }) => [...marksIn(content)]))],
    };
    for (const [what, marks] of Object.entries(lists)) {
      const late = outOfOrder(marks, accepted);
      if (late) found.push({ kind: "order", what: `session ${session}: ${what} ${late.join(" before ")}` });
    }
  }
  return found;
}

/** Returns the first two neighbours of a list that are in the wrong order. */
export function outOfOrder(list: readonly string[], right: readonly string[]): [string, string] | undefined {
  const places = list.map((item) => right.indexOf(item));
  const at = places.findIndex((place, i) => i > 0 && place < (places[i - 1] ?? 0));
  return at < 0 ? undefined : [list[at - 1] as string, list[at] as string];
}
