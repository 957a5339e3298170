import { expect } from "chai";
import { GONE_RULE, paragraphsOf, wakeText } from "../system/services.ts";
import { check } from "./checker.ts";
import type { History, Notification } from "./history.ts";
import type { Violation } from "./violation.ts";

type Mutable<T> = T extends object ? { -readonly [K in keyof T]: Mutable<T[K]> } : T;

const replyOf = (mark: string, answer: string) => paragraphsOf(mark, answer).join("\n\n");
const TO = { channel: "mattermost", to: "c" };

/** Returns a history of two jobs, with hooks and deliveries, without any violation. */
function correctHistory(): Mutable<History> {
  const marks = ["op0z", "op1z"];
  const runs = marks.map((mark, i) => ({
    id: `run-${i}`,
    message: `Look at ${mark}.`,
    sessionKey: "chat",
    status: "completed",
    finalized: true,
    attempts: 1,
    reply: replyOf(mark, `t${i}z`),
    error: null,
  }));
  const report = (progress: number, acknowledged = true) => ({
    jobId: "job",
    stepKey: "s",
    progress,
    jobProgress: progress,
    message: `at ${progress}`,
    acknowledged,
    output: progress === 100 ? "{}" : null,
  });
  const hook = { session: null, to: null };
  const read = (reader: string, progress: number) => ({ reader, jobId: "job", progress, status: "running" });
  return {
    reports: [report(50), report(100)],
    hooks: [
      ...marks.map((mark, i) => ({
        mark,
        hook: "agent" as const,
        session: "chat",
        marks: [mark],
        to: TO,
        answers: [[`run-${i}`]],
      })),
      { ...hook, mark: "op2z", hook: "wake", marks: ["op2z"], answers: [["event"], ["event"]] },
    ],
    reads: [read("a", 0), read("b", 50), read("a", 50), read("a", 50)],
    runReads: [
      { reader: "a", runId: "run-0", status: "running", reply: null },
      { reader: "a", runId: "run-0", status: "completed", reply: replyOf("op0z", "t0z") },
    ],
    refusals: [],
    turns: [
      ...marks.map((mark, i) => ({ mark, eventMarks: [], answer: `t${i}z` })),
      { mark: null, eventMarks: ["op2z"], answer: "t2z" },
    ],
    posts: marks.flatMap((mark, i) => paragraphsOf(mark, `t${i}z`).map((text) => ({ ...TO, text }))),
    received: [
      { id: "e0", type: "job.completed", subject: "job job", atMs: 50 },
      ...runs.map(({ id }) => ({ id: `end of ${id}`, type: "run.completed", subject: `run ${id}`, atMs: 60 })),
      { id: "end of run-1", type: "run.completed", subject: "run run-1", atMs: 90 }, // sent again
      { id: "s0", type: "job.stale", subject: "job silent", atMs: 60 },
      { id: "r0", type: "job.recovered", subject: "job silent", atMs: 70 },
      { id: "s1", type: "job.stale", subject: "job silent", atMs: 80 },
      { id: "g0", type: "gate.opened", subject: "gate job/publish", atMs: 20 },
      { id: "d0", type: "delivery.failed", subject: "delivery gone", atMs: 40 },
    ],
    transitions: [
      { type: "gate.opened", subject: "gate job/publish", atMs: 10 },
      { type: "job.recovered", subject: "job silent", atMs: 65 },
      { type: "job.completed", subject: "job job", atMs: 40 },
    ],
    accepted: ["e0", "s0", "r0", "s1", "g0", "d0", ...runs.map(({ id }) => `end of ${id}`)],
    notifiedWithinMs: 10,
    crashes: [],
    stored: {
      jobs: [
        {
          jobId: "job",
          status: "completed",
          progress: 100,
          message: "at 100",
          output: "{}",
          steps: [{ stepKey: "s", status: "completed", progress: 100, attempts: 1 }],
        },
      ],
      runs,
      events: [
        { id: "event", text: wakeText("op2z"), source: "wake hook", waiting: false },
        ...runs.map(({ id, reply }) => ({ id: `run-${id}-0`, text: reply, source: `run ${id}`, waiting: false })),
      ],
      messages: runs.flatMap(({ message, reply }) => [
        { sessionKey: "chat", role: "user", content: message },
        { sessionKey: "chat", role: "assistant", content: reply },
      ]),
      deliveries: [
        {
          id: "gone",
          runId: null,
          channel: "webhook",
          to: GONE_RULE,
          text: "",
          state: "failed",
          maybeTwice: false,
          reason: "gone",
          eventType: "gate.answered",
        },
        ...runs.map(({ id, reply }) => ({
          id: `${id}-0`,
          runId: id,
          ...TO,
          text: reply,
          state: "sent",
          maybeTwice: false,
          reason: null,
          eventType: null,
        })),
      ],
      silences: [{ jobId: "silent", id: "s1" }],
    },
  };
}

const first = <T>(list: readonly T[]): T => list[0] as T;
const last = <T>(list: readonly T[]): T => list.at(-1) as T;

const remove = (received: Mutable<History["received"]>, id: string) =>
  received.splice(
    received.findIndex((one) => one.id === id),
    1,
  );
/** Adds a webhook like an earlier one, or replaces the earlier one. */
function again(
  received: Mutable<History["received"]>,
  id: string,
  other: Partial<Notification>,
  replaces = false,
): void {
  const found = received.find((one) => one.id === id);
  if (!found) throw new Error(`nothing was received as ${id}`);
  if (replaces) remove(received, id);
  received.push({ ...found, ...other });
}

const BROKEN: [string, Violation["kind"], (history: Mutable<History>) => unknown][] = [
  ["a job is missing", "lost", ({ stored }) => stored.jobs.pop()],
  ["a job has less progress than was acknowledged", "lost", ({ stored }) => (first(stored.jobs).progress = 99)],
  ["a job has an earlier message", "lost", ({ stored }) => (first(stored.jobs).message = "at 50")],
  ["a job lacks its output", "lost", ({ stored }) => (first(stored.jobs).output = null)],
  ["a completed job still runs", "lost", ({ stored }) => (first(stored.jobs).status = "running")],
  ["a step is missing", "lost", ({ stored }) => first(stored.jobs).steps.pop()],
  [
    "a step has less progress than was acknowledged",
    "lost",
    ({ stored }) => (first(first(stored.jobs).steps).progress = 99),
  ],
  ["a step was started twice", "doubled", ({ stored }) => (first(first(stored.jobs).steps).attempts = 2)],
  ["a step is stored twice", "doubled", ({ stored }) => first(stored.jobs).steps.push(first(first(stored.jobs).steps))],
  ["a report was never acknowledged", "stuck", ({ reports }) => (last(reports).acknowledged = false)],
  ["a reader saw decreasing progress", "back", ({ reads }) => (last(reads).progress = 49)],
  [
    "a reader saw an ended job running",
    "back",
    ({ reads }) => reads.splice(2, 0, { ...first(reads), status: "completed", hasOutput: true }),
  ],
  [
    "a reader saw a completed job without its output",
    "back",
    ({ reads }) => reads.push({ reader: "c", jobId: "job", progress: 100, status: "completed", hasOutput: false }),
  ],
  [
    "a reader saw an ended run running",
    "ended twice",
    ({ runReads }) => runReads.push({ ...first(runReads), status: "running" }),
  ],
  [
    "a reader saw a run with two replies",
    "ended twice",
    ({ runReads }) => runReads.push({ ...last(runReads), reply: "another" }),
  ],
  ["a hook was never acknowledged", "stuck", ({ hooks }) => (first(hooks).answers = [])],
  ["an acknowledged run is missing", "lost", ({ stored }) => stored.runs.shift()],
  ["an acknowledged event is missing", "lost", ({ stored }) => stored.events.shift()],
  ["a key received two ids", "doubled", ({ hooks }) => first(hooks).answers.push(["run-1"])],
  [
    "a key created two runs",
    "doubled",
    ({ stored }) => stored.runs.push({ ...first(stored.runs), id: "run-9", finalized: false }),
  ],
  ["a key created two events", "doubled", ({ stored }) => stored.events.push({ ...first(stored.events), id: "other" })],
  ["the main session did not receive an event", "lost", ({ turns }) => (last(turns).eventMarks = [])],
  ["an event still waits", "stuck", ({ stored }) => (first(stored.events).waiting = true)],
  ["a run was not finalized", "stuck", ({ stored }) => (first(stored.runs).finalized = false)],
  [
    "the agent had four turns of one run",
    "doubled",
    ({ turns }) => turns.unshift(...["t7z", "t8z", "t9z"].map((answer) => ({ mark: "op0z", eventMarks: [], answer }))),
  ],
  ["a run failed after one try", "lost", ({ stored }) => (first(stored.runs).status = "failed")],
  ["a reply was never returned by the agent", "lost", ({ stored }) => (first(stored.runs).reply = "Hello")],
  ["a summary is missing", "lost", ({ stored }) => stored.events.pop()],
  ["a transcript lacks a turn", "lost", ({ stored }) => stored.messages.splice(0, 2)],
  [
    "a transcript has another turn's reply",
    "ended twice",
    ({ stored }) => (last(stored.messages).content = replyOf("op1z", "t9z")),
  ],
  ["a transcript has a turn twice", "doubled", ({ stored }) => stored.messages.push(last(stored.messages))],
  ["a session's turns were in another order", "order", ({ turns }) => turns.reverse()],
  [
    "a session's transcript is in another order",
    "order",
    ({ stored }) => stored.messages.push(...stored.messages.splice(0, 2)),
  ],
  ["a reply has no delivery", "lost", ({ stored }) => stored.deliveries.pop()],
  [
    "a reply has two deliveries",
    "doubled",
    ({ stored }) => stored.deliveries.push({ ...last(stored.deliveries), id: "other" }),
  ],
  ["a delivery is still pending", "stuck", ({ stored }) => (last(stored.deliveries).state = "pending")],
  ["a delivery failed", "lost", ({ stored }) => (last(stored.deliveries).state = "failed")],
  ["a message that is marked sent did not arrive", "lost", ({ posts }) => posts.pop()],
  ["a message arrived twice", "doubled", ({ posts }) => posts.push(last(posts))],
  ["the reply of another turn arrived", "ended twice", ({ posts }) => posts.push({ ...TO, text: "op1z t9z" })],
  ["replies arrived in another order", "order", ({ posts }) => posts.push(...posts.splice(0, 2))],
  ["no webhook has the end of a job", "lost", ({ received }) => received.shift()],
  ["no webhook has the end of a run", "lost", ({ received }) => received.splice(1, 1)],
  ["webhooks have an end under two ids", "doubled", ({ received }) => received.push({ ...first(received), id: "e9" })],
  ["a webhook has another end of a job", "ended twice", ({ received }) => (first(received).type = "job.failed")],
  [
    "a webhook has the end of a job that runs",
    "doubled",
    ({ stored, received }) => {
      stored.jobs.push({ ...first(stored.jobs), jobId: "other", status: "running" });
      received.push({ id: "e9", type: "job.failed", subject: "job other", atMs: 0 });
    },
  ],
  [
    "a receiver that fails at first lacks an event",
    "lost",
    ({ accepted }) => accepted.splice(accepted.indexOf("d0"), 1),
  ],
  ["no webhook has the opening of a gate", "lost", ({ received }) => remove(received, "g0")],
  [
    "webhooks have the opening of a gate under two ids",
    "doubled",
    ({ received }) => again(received, "g0", { id: "g9" }),
  ],
  [
    "a webhook has an answer that nobody gave",
    "doubled",
    ({ received }) => again(received, "g0", { type: "gate.answered" }),
  ],
  ["no webhook has that a job is stale", "lost", ({ received }) => remove(received, "s1")],
  ["no webhook has that a job recovered", "lost", ({ received }) => remove(received, "r0")],
  ["a job recovered that was not stale", "doubled", ({ received }) => again(received, "r0", { subject: "job job" })],
  ["no webhook has that a delivery failed", "lost", ({ received }) => remove(received, "d0")],
  [
    "a webhook has the failure of a delivery that was sent",
    "doubled",
    ({ received }) => again(received, "d0", { subject: "delivery x" }),
  ],
  ["a webhook came late", "late", ({ received }) => again(received, "g0", { atMs: 21 }, true)],
  [
    "a request was refused",
    "refused",
    ({ refusals }) => refusals.push({ what: "PUT /api/jobs/job", status: 500, text: "internal" }),
  ],
  ["a process exited by itself", "crashed", ({ crashes }) => crashes.push("web 1 ended by itself with 1")],
];

describe("fault suite checker", () => {
  it("finds no violation in a correct history", () => {
    expect(check(correctHistory())).to.deep.equal([]);
  });

  for (const [title, kind, breaks] of BROKEN) {
    it(`reports ${JSON.stringify(kind)} when ${title}`, () => {
      const history = correctHistory();
      breaks(history);

      const kinds = check(history).map((violation) => violation.kind);

      expect(kinds).to.include(kind);
    });
  }

  it("accepts a stored report that was not acknowledged", () => {
    const history = correctHistory();
    history.reports.push({ ...last(history.reports), message: "at the end", acknowledged: false });
    first(history.stored.jobs).message = "at the end";

    const kinds = check(history).map(({ kind }) => kind);

    expect(kinds).to.deep.equal(["stuck"]);
  });

  it("accepts a duplicate message if its delivery says so", () => {
    const history = correctHistory();
    history.posts.push(last(history.posts));
    last(history.stored.deliveries).maybeTwice = true;

    expect(check(history)).to.deep.equal([]);
  });

  it("accepts a repeated turn, and a run that failed after its third attempt", () => {
    const history = correctHistory();
    history.turns.unshift(
      { mark: "op0z", eventMarks: [], answer: "t8z" },
      { mark: "op0z", eventMarks: [], answer: "t9z" },
    );
    const { stored } = history;
    Object.assign(first(stored.runs), { status: "failed", attempts: 3, reply: null });
    stored.messages.splice(0, 2);
    stored.deliveries.splice(1, 1);
    history.posts.splice(0, 2);
    history.runReads = [];
    history.received.splice(1, 1, { id: "end of run-0", type: "run.failed", subject: "run run-0", atMs: 0 });

    expect(check(history)).to.deep.equal([]);
  });
});
