import type { History, Notification, StoredDelivery, Transition } from "./history.ts";
import type { Violation } from "./violation.ts";

const ENDS: ReadonlySet<string> = new Set(["completed", "failed", "dropped"]);
/** The events of jobs that are silent. The clock of a process that jumps makes more of them. */
const SILENCE: ReadonlySet<string> = new Set(["job.stale", "job.recovered"]);

type Notified = Pick<History, "received" | "accepted" | "stored" | "transitions" | "notifiedWithinMs">;

/**
 * Checks that a webhook has received each event: under one id, however often it was sent, in time, and no event that has not
 * happened.
 */
export function checkNotifications({
  received,
  accepted,
  stored,
  transitions,
  notifiedWithinMs,
}: Notified): Violation[] {
  const ends = [
    ...stored.jobs.map(({ jobId, status }) => ({ subject: `job ${jobId}`, status })),
    ...stored.runs.map(({ id, status }) => ({ subject: `run ${id}`, status })),
  ];
  const endsOf = Map.groupBy(received.filter(isEnd), ({ subject }) => subject);
  const byEvent = Map.groupBy(received, eventName);
  return [
    ...ends.flatMap(({ subject, status }) => checkEnd(subject, status, endsOf.get(subject) ?? [])),
    ...checkOthers(transitions, stored.deliveries, byEvent),
    ...checkSilences(received, stored.silences),
    ...checkFlaky(received, accepted),
    ...transitions.flatMap((one) => checkDelay(one, byEvent.get(eventName(one)) ?? [], notifiedWithinMs)),
  ];
}

/** Checks that the receiver that fails half of the time has accepted the same events as the other. Jobs go on becoming silent. */
function checkFlaky(received: readonly Notification[], accepted: readonly string[]): Violation[] {
  const ids = new Set(idsOf(received));
  const lost = idsOf(received.filter(({ type }) => !SILENCE.has(type))).filter((id) => !accepted.includes(id));
  const others = accepted.filter((id) => !ids.has(id));
  return [
    ...lost.map((id): Violation => ({ kind: "lost", what: `the receiver that fails at first did not receive ${id}` })),
    ...others.map((id): Violation => ({ kind: "lost", what: `only the receiver that fails at first received ${id}` })),
  ];
}

const eventName = ({ type, subject }: Pick<Notification, "type" | "subject">): string => `${type} of ${subject}`;
const isEnd = ({ type }: Notification): boolean => ENDS.has(type.split(".")[1] ?? "") && !type.startsWith("delivery.");
const idsOf = (received: readonly Notification[] = []): string[] => [...new Set(received.map(({ id }) => id))];

function checkEnd(subject: string, status: string, received: readonly Notification[]): Violation[] {
  const [kind] = subject.split(" ");
  const expected = ENDS.has(status) ? [`${kind}.${status}`] : [];
  const ids = new Map(received.map(({ id, type }) => [id, type]));
  const types = [...ids.values()];
  const report = (kind: Violation["kind"], what: string): Violation => ({ kind, what: `${subject}: ${what}` });
  if (types.length < expected.length) return [report("lost", `no webhook received that it ${status}`)];
  if (types.length > expected.length)
    return [report("doubled", `its end was received as ${[...ids.keys()].join(", ")}`)];
  if (types[0] !== expected[0]) return [report("ended twice", `it ${status}, and ${types[0]} was received`)];
  return [];
}

/** Checks the events of gates and of failed deliveries, and the recoveries that requests have made: each has exactly one id. */
function checkOthers(
  transitions: readonly Transition[],
  deliveries: readonly StoredDelivery[],
  byEvent: ReadonlyMap<string, readonly Notification[]>,
): Violation[] {
  const failed = deliveries.filter(({ state, eventType }) => state === "failed" && eventType !== "delivery.failed");
  const expected = new Set([
    ...transitions.map(eventName),
    ...failed.map(({ id }) => eventName({ type: "delivery.failed", subject: `delivery ${id}` })),
  ]);
  const mayBe = ({ type }: Notification) => isEnd({ type } as Notification) || SILENCE.has(type);
  const unexpected = [...byEvent].filter(([name, [one]]) => one && !mayBe(one) && !expected.has(name));
  return [
    ...[...expected].flatMap((name): Violation[] => {
      const ids = idsOf(byEvent.get(name));
      if (ids.length === 1) return [];
      if (ids.length === 0) return [{ kind: "lost", what: `no webhook received ${name}` }];
      return [{ kind: "doubled", what: `${name} was received as ${ids.join(", ")}` }];
    }),
    ...unexpected.map(([name]): Violation => ({ kind: "doubled", what: `${name} was received, and has not happened` })),
  ];
}

/**
 * Checks that each silence that a job has now was announced under its id, and that no job recovered more often than it was
 * stale.
 */
function checkSilences(received: readonly Notification[], silences: History["stored"]["silences"]): Violation[] {
  const stale = new Set(received.filter(({ type }) => type === "job.stale").map(({ id }) => id));
  const lost = silences.filter(({ id }) => !stale.has(id));
  const bySubject = Map.groupBy(
    received.filter(({ type }) => SILENCE.has(type)),
    ({ subject }) => subject,
  );
  const recoveredTwice = [...bySubject].filter(([, all]) => {
    const [before, after] = [...SILENCE].map((type) => idsOf(all.filter((one) => one.type === type)).length);
    return Number(after) > Number(before);
  });
  return [
    ...lost.map(({ jobId }): Violation => ({ kind: "lost", what: `no webhook received that job ${jobId} is stale` })),
    ...recoveredTwice.map(
      ([subject]): Violation => ({ kind: "doubled", what: `${subject} recovered more often than it was stale` }),
    ),
  ];
}

function checkDelay(
  one: Transition,
  received: readonly Notification[],
  withinMs = Number.POSITIVE_INFINITY,
): Violation[] {
  const delayMs = delayOf(one, received);
  if (delayMs === undefined || delayMs <= withinMs) return [];
  return [{ kind: "late", what: `${eventName(one)} was received after ${Math.round(delayMs)} ms` }];
}

/** Returns the time from a transition to its first notification; undefined without one. */
function delayOf({ atMs }: Transition, received: readonly Notification[]): number | undefined {
  return received.length === 0 ? undefined : Math.min(...received.map((one) => one.atMs)) - atMs;
}

/** Returns the greatest time from a transition to its first notification. */
export function greatestDelay({ transitions, received }: Pick<History, "transitions" | "received">): number {
  const byEvent = Map.groupBy(received, eventName);
  return Math.max(0, ...transitions.map((one) => delayOf(one, byEvent.get(eventName(one)) ?? []) ?? 0));
}
