import { MARK, wakeText } from "../system/services.ts";
import type { History, Hook, StoredRun } from "./history.ts";
import type { Violation } from "./violation.ts";

/** Maximum attempts of a turn; see docs/reference/hooks.md. */
const MAX_ATTEMPTS = 3;

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
    const report = (kind: Violation["kind"], what: string) => found.push({ kind, what: `hook ${hook.mark}: ${what}` });
    const [first, ...others] = hook.answers;
    if (others.some((answer) => JSON.stringify(answer) !== JSON.stringify(first))) {
      report("doubled", `its key was answered with ${JSON.stringify(hook.answers)}`);
    }
    if (!first) report("stuck", "it was never acknowledged");
    for (const id of first ?? []) if (!ids.has(id)) report("lost", `${id} was answered and is not there`);
    for (const mark of hook.marks) {
      const made = isEvent(hook) ? (events.get(wakeText(mark)) ?? []) : (runs.get(mark) ?? []);
      if (made.length > 1) report("doubled", `${mark} became ${made.map(({ id }) => id).join(", ")}`);
      if (first && made.length === 0) report("lost", `${mark} had no effect`);
      if (first && isEvent(hook) && !eventMarks.has(mark)) report("lost", `the main session never received ${mark}`);
    }
  }
  for (const { id, waiting } of stored.events) {
    if (waiting) found.push({ kind: "stuck", what: `event ${id}: no turn received it` });
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
  for (const { id, message, status, finalized, attempts, reply, error, sessionKey } of stored.runs) {
    const report = (kind: Violation["kind"], what: string) => found.push({ kind, what: `run ${id}: ${what}` });
    if (!finalized) report("stuck", `it is ${status} and was not finalized`);
    const [mark] = marksIn(message);
    if (mark === undefined || !finalized) continue; // The hook became an event.
    const ownTurns = turnsOf.get(mark) ?? [];
    if (ownTurns.length > MAX_ATTEMPTS) report("doubled", `the agent was asked ${ownTurns.length} times`);
    const runSummaries = summaries.get(`run ${id}`) ?? [];
    if (runSummaries.length !== 1)
      report(runSummaries.length === 0 ? "lost" : "doubled", `the main session has ${runSummaries.length} summaries`);
    const replies = (answered.get(sessionKey) ?? []).filter(({ content }) => marksIn(content).has(mark));
    if (status !== "completed") {
      if (attempts < MAX_ATTEMPTS) report("lost", `it ${status} after ${attempts} tries: ${error}`);
      if (replies.length > 0) report("ended twice", `it ${status} and is in the transcript`);
      continue;
    }
    const turn = ownTurns.find(({ answer }) => reply?.startsWith(`${mark} ${answer} `));
    if (!turn) {
      report("lost", `its reply ${JSON.stringify(reply)} was never returned by the agent`);
      continue;
    }
    if (replies.length !== 1)
      report(replies.length === 0 ? "lost" : "doubled", `the transcript contains it ${replies.length} times`);
    const traces = [...replies.map(({ content }) => content), ...runSummaries.map(({ text }) => text)];
    if (!traces.every((text) => text.includes(`${mark} ${turn.answer} `))) {
      report("ended twice", `its reply is that of ${turn.answer}, its traces are ${JSON.stringify(traces)}`);
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
