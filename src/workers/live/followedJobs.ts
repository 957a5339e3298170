import { type ChosenJob, findChosenJobs, runningJobs } from "../../models/jobs/read/followedJobs.ts";
import { type LiveKey, liveMessageId } from "../../models/notifications/liveMessage.ts";
import type { Stores } from "../../models/stores.ts";
import type { Clock } from "../../shared/clock.ts";
import type { ChangeListener } from "../../shared/queue/changeReader.ts";
import type { Change } from "../../shared/queue/changeStream.ts";
import { jobFacts } from "../notify/notification.ts";
import { matchesWhere, type Rule } from "../notify/rule.ts";
import type { Chat, Followed } from "./chat.ts";

export interface FollowDeps {
  readonly stores: Stores;
  readonly clock: Clock;
  /** The live rules. */
  readonly rules: readonly Rule[];
  /** The age from which a running job has a message. */
  readonly afterMs: number;
  /** Returns the chat of a rule. */
  chatOf(rule: Rule): Chat;
}

interface FollowedJob {
  readonly internalId: string;
  readonly messages: readonly Followed[];
}

/** Maximum jobs that are followed. Further ones have only the message of their end. */
const MAX_FOLLOWED = 5_000;
/** Maximum jobs of which it is remembered that no rule follows them. */
const MAX_IGNORED = 20_000;
/** Maximum jobs whose change waits to be read; beyond it all running jobs are read again. */
const MAX_UNREAD = 20_000;
/** Maximum jobs of one read. */
const BATCH_SIZE = 500;

/**
 * The running jobs that live rules follow. Learns from the stream of changes which jobs have changed, and puts their messages into
 * the queues of their chats. Reads a job only when it is new or may match other rules than before; its progress is read when the
 * message is written.
 */
export class FollowedJobs implements ChangeListener {
  readonly #deps: FollowDeps;
  readonly #jobs = new Map<string, FollowedJob>();
  readonly #ignored = new Set<string>();
  readonly #unread = new Set<string>();
  #mustScan = true;

  constructor(deps: FollowDeps) {
    this.#deps = deps;
  }

  onConnected(): void {
    this.#mustScan = true;
  }

  onDisconnected(): void {}

  onChanges(unpack: () => readonly Change[]): void {
    for (const change of unpack()) {
      if (change.kind === "many") this.#mustScan = true;
      else if (change.kind === "job" || change.kind === "step") this.#touch(change);
    }
  }

  #touch(change: Extract<Change, { kind: "job" | "step" }>): void {
    const { jobId } = change;
    const isMoved = change.kind === "job" && change.moved;
    const followed = this.#jobs.get(jobId);
    for (const message of followed?.messages ?? []) message.chat.add(message);
    if (!isMoved && (followed || this.#ignored.has(jobId))) return;
    if (this.#unread.size < MAX_UNREAD) this.#unread.add(jobId);
    else this.#mustScan = true;
  }

  /** Reads what has changed. @throws AppError unavailable */
  async update(signal: AbortSignal): Promise<void> {
    if (this.#mustScan) await this.#scan(signal);
    const jobIds = [...this.#unread].slice(0, BATCH_SIZE);
    if (jobIds.length === 0) return;
    const found = await findChosenJobs(this.#deps.stores.jobs, jobIds);
    await this.#follow(found);
    const running = new Set(found.filter(({ status }) => status === "running").map(({ jobId }) => jobId));
    const existing = new Map(found.map(({ jobId, _id }) => [jobId, _id.toHexString()]));
    for (const jobId of jobIds) {
      this.#unread.delete(jobId);
      if (!running.has(jobId)) this.#forget(jobId, existing.get(jobId));
    }
  }

  /** Reads all running jobs, and looks for messages whose job was deleted while nobody read the changes. */
  async #scan(signal: AbortSignal): Promise<void> {
    this.#mustScan = false;
    try {
      this.#ignored.clear();
      for (const jobId of this.#jobs.keys()) this.#unread.add(jobId);
      const { stores } = this.#deps;
      for await (const jobs of runningJobs(stores.jobs, BATCH_SIZE, MAX_FOLLOWED)) {
        if (signal.aborted) return;
        await this.#follow(jobs);
      }
      for await (const open of stores.liveMessages.listOpen(BATCH_SIZE)) {
        if (signal.aborted) return;
        const jobs = await findChosenJobs(
          stores.jobs,
          open.map(({ jobId }) => jobId),
        );
        const existing = new Set(jobs.map(({ _id }) => _id.toHexString()));
        for (const { _id: id, ...job } of open) if (!existing.has(job.job.toHexString())) this.#addDeleted(id, job);
      }
    } catch (error) {
      this.#mustScan = true;
      throw error;
    }
  }

  /** Follows the jobs among some that rules choose, and puts their messages into the queues. */
  async #follow(jobs: readonly ChosenJob[]): Promise<void> {
    const { stores, clock, rules, afterMs, chatOf } = this.#deps;
    const now = performance.now() - clock.now().getTime();
    const added: Followed[] = [];
    for (const job of jobs.filter(({ status }) => status === "running")) {
      const internalId = job._id.toHexString();
      const before = this.#jobs.get(job.jobId);
      if (before && before.internalId !== internalId) this.#forget(job.jobId, internalId);
      const known = this.#jobs.get(job.jobId)?.messages ?? [];
      const { facts } = await jobFacts(stores, job);
      const messages = rules
        .filter((rule) => matchesWhere(rule, facts))
        .map((rule): Followed => {
          const chat = chatOf(rule);
          const id = liveMessageId(...([rule.id, chat.channel, chat.to, internalId] satisfies LiveKey));
          const old = known.find((one) => one.id === id);
          const subject = { job: job._id, jobId: job.jobId, name: job.name ?? job.jobId };
          const first = { isShown: false, isOver: false, isDeleted: false, text: undefined, points: [] };
          return old ?? { id, chat, job: subject, ...first, notBefore: now + job.createdAt.getTime() + afterMs };
        });
      added.push(...messages.filter((one) => !known.includes(one)));
      if (messages.length === 0 || (!before && this.#jobs.size >= MAX_FOLLOWED)) this.#ignore(job.jobId);
      else this.#jobs.set(job.jobId, { internalId, messages });
    }
    const shown = added.length > 0 ? await stores.liveMessages.findShown(added.map(({ id }) => id)) : new Set();
    for (const message of added) message.isShown = shown.has(message.id);
    for (const { jobId } of jobs)
      for (const message of this.#jobs.get(jobId)?.messages ?? []) message.chat.add(message);
  }

  #ignore(jobId: string): void {
    this.#jobs.delete(jobId);
    if (this.#ignored.size >= MAX_IGNORED) this.#ignored.clear();
    this.#ignored.add(jobId);
  }

  /** Follows a job no longer. @param present the internal id of the job that has its id now; undefined if none has */
  #forget(jobId: string, present: string | undefined): void {
    const followed = this.#jobs.get(jobId);
    this.#jobs.delete(jobId);
    this.#ignored.delete(jobId);
    for (const message of followed?.messages ?? []) {
      message.chat.delete(message);
      if (followed?.internalId !== present) this.#addDeleted(message.id, message.job);
    }
  }

  /** Adds the message of a deleted job, if it belongs to a rule of the configuration. */
  #addDeleted(id: string, job: Followed["job"]): void {
    const [ruleId, channel, to] = JSON.parse(id) as LiveKey;
    const rule = this.#deps.rules.find(
      (one) => one.id === ruleId && one.to.channel === channel && one.to.to?.trim() === to,
    );
    if (!rule) return;
    const chat = this.#deps.chatOf(rule);
    chat.add({
      id,
      chat,
      job,
      isShown: true,
      isOver: false,
      isDeleted: true,
      text: undefined,
      points: [],
      notBefore: 0,
    });
  }
}
