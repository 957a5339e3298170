import type { Clock } from "../../shared/clock.ts";
import type { Usual } from "../../wire/job.ts";
import type { Documents } from "../db/documents.ts";
import type { UsualSource } from "../jobs/jobCounter.ts";
import { addDurations, quantile } from "./durations.ts";
import { type JobFiguresDoc, PERIODS } from "./jobFigures.ts";

/** Minimum completed jobs of a name for a usual duration. */
const MIN_COUNT = 5;
/** How long a usual duration is cached: new jobs change it little, and each page of jobs needs many. */
const CACHE_MS = 10_000;
/** Maximum names in the cache. */
const MAX_CACHED = 1_000;

/** The usual durations of jobs by name, from the jobs that completed in the last 60 days. Each process caches them. */
export class UsualDurations implements UsualSource {
  readonly #collection: Documents<JobFiguresDoc>;
  readonly #clock: Clock;
  readonly #cached = new Map<string, { readonly until: number; readonly usual: Promise<Usual | null> }>();

  constructor(collection: Documents<JobFiguresDoc>, clock: Clock) {
    this.#collection = collection;
    this.#clock = clock;
  }

  async read(names: Iterable<string | null>, fresh = false): Promise<ReadonlyMap<string | null, Usual | null>> {
    const now = this.#clock.now().getTime();
    const wanted = [...new Set(names)].filter((name) => name !== null);
    const missing = wanted.filter((name) => fresh || (this.#cached.get(name)?.until ?? 0) <= now);
    if (missing.length > 0) this.#add(missing, now + CACHE_MS);
    const found = wanted.map(async (name) => [name, (await this.#cached.get(name)?.usual) ?? null] as const);
    return new Map(await Promise.all(found));
  }

  #add(names: readonly string[], until: number): void {
    if (this.#cached.size + names.length > MAX_CACHED) this.#cached.clear();
    const reading = this.#readAll(names);
    for (const name of names) {
      const usual = reading.then((all) => all.get(name) ?? null);
      this.#cached.set(name, { until, usual });
      usual.catch(() => this.#cached.delete(name));
    }
  }

  async #readAll(names: readonly string[]): Promise<ReadonlyMap<string, Usual | null>> {
    const { seconds, keepSeconds } = PERIODS.usual;
    const start = { $gte: new Date(this.#clock.now().getTime() - keepSeconds * 1_000) };
    const query = { seconds, name: { $in: [...names] }, start };
    const options = { projection: { name: 1, durations: 1 } };
    const found = await this.#collection.find<Pick<JobFiguresDoc, "name" | "durations">>(query, options);
    const byName = Map.groupBy(found, ({ name }) => name ?? "");
    return new Map([...byName].map(([name, docs]) => [name, usualOf(docs)]));
  }
}

function usualOf(docs: readonly Pick<JobFiguresDoc, "durations">[]): Usual | null {
  const durations: Record<string, number> = {};
  for (const doc of docs) addDurations(durations, doc.durations ?? {});
  const count = Object.values(durations).reduce((sum, n) => sum + n, 0);
  const at = (share: number) => Math.round(Number((quantile(durations, share) ?? 0).toPrecision(3)));
  return count < MIN_COUNT ? null : { p50Ms: at(0.5), p95Ms: at(0.95), count };
}
