import { setTimeout as pause } from "node:timers/promises";
import type { Hook, Notification, Report, Transition } from "../checks/history.ts";
import type { Random } from "../random.ts";
import { wakeText } from "../system/services.ts";
import type { Client } from "./client.ts";

const STEPS = 4;
/** How long a silent job is waited for. */
const ANNOUNCED_WITHIN_MS = 30_000;
const PROGRESS = [0, 20, 40, 60, 80, 100] as const;

/** The requests, and their acknowledgements. */
export interface SentRequests {
  readonly reports: Report[];
  readonly hooks: Hook[];
  readonly transitions: Transition[];
  /** In the order of their start. */
  readonly jobIds: string[];
  /** Ids of the runs of hooks that become one run each. */
  readonly runIds: string[];
}

export interface LoadSettings {
  readonly client: Client;
  readonly random: Random;
  /** Aborted when nothing new may begin; pending work is finished. */
  readonly stop: AbortSignal;
  readonly reporters: number;
  readonly sessions: number;
  /** The webhooks that were received so far. */
  readonly received: readonly Notification[];
}

/** Sends reports and hooks of every kind until it is aborted. Resolves when all requests are acknowledged. */
export async function sendLoad(sent: SentRequests, settings: LoadSettings): Promise<void> {
  const { random, reporters, sessions } = settings;
  const senders = new Senders(sent, settings);
  const several = (count: number, act: (name: string, random: Random) => Promise<void>, kind: string) =>
    Array.from({ length: count }, (_, i) => act(`${kind}-${i}`, random.fork(`${kind}-${i}`)));
  await Promise.all([
    ...several(reporters, (name, random) => senders.sendReports(name, random), "job"),
    ...several(sessions, (name, random) => senders.sendSessionHooks(name, random), "chat"),
    ...several(2, (_, random) => senders.sendEvents(random), "ring"),
    ...several(1, (_, random) => senders.sendOtherRuns(random), "scatter"),
    ...several(2, (name, random) => senders.sendGates(name, random), "gated"),
    ...several(2, (name, random) => senders.sendSilentJobs(name, random), "silent"),
  ]);
}

class Senders {
  readonly #sent: SentRequests;
  readonly #client: Client;
  readonly #stop: AbortSignal;

  readonly #received: readonly Notification[];

  constructor(sent: SentRequests, { client, stop, received }: LoadSettings) {
    this.#sent = sent;
    this.#received = received;
    this.#client = client;
    this.#stop = stop;
  }

  async #pause(random: Random, least: number, most: number): Promise<void> {
    await pause(random.whole(least, most), undefined, { signal: this.#stop }).catch(() => {});
  }

  /** Reports on jobs in sequence, each from its first report to its last. */
  async sendReports(name: string, random: Random): Promise<void> {
    for (let n = 0; !this.#stop.aborted; n++) {
      const jobId = `${name}-${n}`;
      if (!(await this.#client.requestUntilAccepted("PUT", `/api/jobs/${jobId}`, { name }))) return;
      this.#sent.jobIds.push(jobId);
      for (const { path, body, report } of reportsOf(jobId)) {
        this.#sent.reports.push(report);
        if (!(await this.#client.requestUntilAccepted("PUT", path, body))) return;
        report.acknowledged = true;
        if (report.output !== null) this.#note("job.completed", `job ${jobId}`);
        await this.#pause(random, 10, 120);
      }
    }
  }

  /** Notes an event that a request has just made. */
  #note(type: string, subject: string): void {
    this.#sent.transitions.push({ type, subject, atMs: performance.now() });
  }

  /** Asks questions, each on a job of its own, and answers or withdraws them. */
  async sendGates(name: string, random: Random): Promise<void> {
    for (let n = 0; !this.#stop.aborted; n++) {
      const [jobId, key] = [`${name}-${n}`, `gate-${n}`];
      const [job, subject] = [`/api/jobs/${jobId}`, `gate ${jobId}/${key}`];
      const send = (method: string, path: string, body?: object) =>
        this.#client.requestUntilAccepted(method, path, body);
      if (!(await send("PUT", job, { name }))) return;
      if (!(await send("PUT", `${job}/gates/${key}`, { title: "Publish?" }))) return;
      this.#note("gate.opened", subject);
      await this.#pause(random, 0, 300);
      const isAnswered = random.next() < 0.7;
      if (isAnswered) {
        if (!(await send("POST", `${job}/gates/${key}/answer`, { action: "accept" }))) return;
        this.#note("gate.answered", subject);
      } else if (!(await send("DELETE", `${job}/gates/${key}`))) return;
      if (!(await send("PUT", job, { status: "completed" }))) return;
      this.#note("job.completed", `job ${jobId}`);
      await this.#pause(random, 100, 600);
    }
  }

  /** Lets jobs become stale. Most of them complete once that is announced, the others stay silent. */
  async sendSilentJobs(name: string, random: Random): Promise<void> {
    for (let n = 0; !this.#stop.aborted; n++) {
      const jobId = `${name}-${n}`;
      if (!(await this.#client.requestUntilAccepted("PUT", `/api/jobs/${jobId}`, { name, staleAfterSeconds: 1 })))
        return;
      if (!(await this.#isAnnounced(`job ${jobId}`)) || random.next() < 0.3) continue;
      if (!(await this.#client.requestUntilAccepted("PUT", `/api/jobs/${jobId}`, { status: "completed" }))) return;
      this.#note("job.recovered", `job ${jobId}`);
      this.#note("job.completed", `job ${jobId}`);
    }
  }

  /** Waits until a job is announced as stale. Gives up after a while: a clock that jumps may delay that for hours. */
  async #isAnnounced(subject: string): Promise<boolean> {
    const isIt = (one: Notification) => one.type === "job.stale" && one.subject === subject;
    const giveUpAt = performance.now() + ANNOUNCED_WITHIN_MS;
    while (!this.#stop.aborted && performance.now() < giveUpAt) {
      if (this.#received.some(isIt)) return true;
      await pause(100, undefined, { signal: this.#stop }).catch(() => {});
    }
    return false;
  }

  /** Sends the runs of one session in sequence, to the agent hook and to a mapped one. */
  async sendSessionHooks(session: string, random: Random): Promise<void> {
    const to = random.pick([
      { channel: "mattermost", to: session.padEnd(26, "0").replaceAll("-", "0") },
      { channel: "telegram", to: String(random.whole(100, 1_000_000)) },
    ]);
    while (!this.#stop.aborted) {
      const mark = this.#newMark();
      const hook: Hook = { ...hookOf(random.pick(["agent", "mapped"]), [mark]), session, to };
      const wakeMode = random.pick(["now", "next-heartbeat"]);
      const body =
        hook.hook === "agent"
          ? { message: `Look at ${mark}.`, sessionKey: session, wakeMode, ...to }
          : { mark, session, ...to };
      if (!(await this.#send(hook, body, random))) return;
      await this.#pause(random, 200, 900);
    }
  }

  /** Sends events for the main session. */
  async sendEvents(random: Random): Promise<void> {
    while (!this.#stop.aborted) {
      const mark = this.#newMark();
      const hook = hookOf(random.pick(["wake", "event"]), [mark]);
      const mode = random.pick(["now", "next-heartbeat"]);
      if (!(await this.#send(hook, hook.hook === "wake" ? { text: wakeText(mark), mode } : { mark }, random))) return;
      await this.#pause(random, 200, 900);
    }
  }

  /** Sends runs in sessions of their own: single ones, and several in one request. */
  async sendOtherRuns(random: Random): Promise<void> {
    while (!this.#stop.aborted) {
      const isSingle = random.next() < 0.7;
      const marks = Array.from({ length: isSingle ? 1 : random.whole(2, 4) }, () => this.#newMark());
      const hook = hookOf(isSingle ? "agent" : "items", marks);
      const [mark] = marks;
      const body = isSingle
        ? { message: `Look at ${mark}.`, deliver: false, wakeMode: "next-heartbeat" }
        : { items: marks };
      if (!(await this.#send(hook, body, random))) return;
      await this.#pause(random, 400, 1_500);
    }
  }

  #marks = 0;
  #newMark(): string {
    return `op${this.#marks++}z`;
  }

  /** Sends a report. Returns false if it is not accepted. */
  async #send(hook: Hook, body: object, random: Random): Promise<boolean> {
    this.#sent.hooks.push(hook);
    const headers = { "Idempotency-Key": `key of ${hook.mark}` };
    const name = hook.hook === "mapped" ? `mapped/${hook.to?.channel}` : hook.hook;
    const isRepeated = random.next() < 0.2;
    for (let times = isRepeated ? 2 : 1; times > 0; times--) {
      const answer = await this.#client.requestUntilAccepted("POST", `/hooks/${name}`, body, headers);
      if (!answer) return false;
      const { eventId, runId, runIds } = answer.body;
      hook.answers.push(eventId ? [eventId] : (runIds ?? [runId]));
    }
    if (hook.hook === "agent" || hook.hook === "mapped") this.#sent.runIds.push(...(hook.answers[0] ?? []));
    return true;
  }
}

const hookOf = (hook: Hook["hook"], marks: readonly string[]): Hook => ({
  mark: marks[0] ?? "",
  hook,
  marks,
  session: null,
  to: null,
  answers: [],
});

function reportsOf(jobId: string) {
  const each = Array.from({ length: STEPS }, (_, step) => PROGRESS.map((progress) => ({ step, progress })));
  return each.flat().map(({ step, progress }) => {
    const [start, end] = [(100 / STEPS) * step, (100 / STEPS) * (step + 1)];
    const stepKey = `step-${step}`;
    const jobProgress = start + (progress / 100) * (end - start);
    const message = `${stepKey} is at ${progress}`;
    const output = jobProgress === 100 ? { of: jobId } : undefined;
    const report: Report = {
      jobId,
      stepKey,
      progress,
      jobProgress,
      message,
      acknowledged: false,
      output: output ? JSON.stringify(output) : null,
    };
    const status = progress === 100 ? "completed" : "running";
    const body = {
      stepName: stepKey,
      status,
      progress,
      message,
      jobProgressStart: start,
      jobProgressEnd: end,
      ...(output && { output }),
    };
    return { path: `/api/jobs/${jobId}/steps/${stepKey}`, body, report };
  });
}
