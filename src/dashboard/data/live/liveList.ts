import { type Signal, signal } from "@preact/signals";
import { FIRST_PAGE } from "../../firstReads.ts";
import { throttle } from "./throttle.ts";

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor: string | null;
}

export interface PageQuery {
  readonly limit: number;
  readonly cursor: string | undefined;
}

export interface ListSource<Row> {
  readonly idOf: (row: Row) => string;
  readonly createdAt: (row: Row) => string;
  readonly load: (page: PageQuery, options: { readonly signal: AbortSignal }) => Promise<Page<Row>>;
  /** Returns the row to show after an event, by default that of the event. Must keep the newer state. */
  readonly merge?: (shown: Row, news: Row) => Row;
}

export interface ListView<Row> {
  readonly rows: readonly Row[];
  /** Whether there is more to load. */
  readonly hasMore: boolean;
  /** `first` until the first page is loaded. */
  readonly state: "first" | "ready" | "loading";
  readonly error: unknown;
  /** Number of rows that events have added at the top since the last reload or markSeen(). */
  readonly arrived: number;
}

const PAGE = 500;
const MAX_PAGE = 1_000;
const RENDER_EVERY_MS = 16;
/** Minimum interval of reloads that events cause. */
const RELOAD_EVERY_MS = 1_000;

/**
 * A list with the newest row first, which is read page by page and updated by live events in any order. A row that an
 * event has changed since a page was requested is newer than that page.
 *
 * States: `first` (nothing loaded, or the first load failed), `loading` (a request is in progress) and `ready`. Only
 * one request runs at a time; a reload aborts the request for the next page.
 */
export class LiveList<Row> {
  readonly view: Signal<ListView<Row>>;
  /** Returns the id of a row. */
  readonly idOf: (row: Row) => string;
  readonly #source: ListSource<Row>;
  #rows: Row[] = [];
  #cursor: string | null = null;
  #state: ListView<Row>["state"] = "first";
  #error: unknown = null;
  #arrived = 0;
  #isReloading = false;
  #needsReload = false;
  #isTruncating = false;
  #needsMore = false;
  /** The rows that events have changed since the last request began, by their ids; null for a removed row. */
  readonly #changed = new Map<string, Row | null>();
  #loading: AbortController | null = null;
  /** Reloads soon, once for several calls, as after events. */
  readonly reloadSoon = throttle(() => void this.reload(), RELOAD_EVERY_MS);
  /** Renders a burst of events once. */
  readonly #renderSoon = throttle(() => this.#render(), RENDER_EVERY_MS);

  /** @param first the first page, which is shown until it is read again */
  constructor(source: ListSource<Row>, first?: Page<Row>) {
    this.#source = source;
    if (first) {
      this.#rows = [...first.rows];
      this.#cursor = first.nextCursor;
      this.#state = "ready";
    }
    this.idOf = source.idOf;
    this.view = signal<ListView<Row>>(this.#currentView());
  }

  /** Reads all shown rows again, at least the first page. A call during a reload starts another one after it. */
  async reload(): Promise<void> {
    this.#needsReload = true;
    if (this.#isReloading) return;
    this.#isReloading = true;
    while (this.#needsReload) {
      this.#needsReload = false;
      await this.#reload();
    }
    this.#isReloading = false;
  }

  /** Reads the first page again and drops all other rows. */
  async truncate(): Promise<void> {
    this.#isTruncating = true;
    await this.reload();
  }

  async #reload(): Promise<void> {
    const wanted = this.#isTruncating ? FIRST_PAGE : Math.max(FIRST_PAGE, this.#rows.length);
    this.#isTruncating = false;
    await this.#request(async (signal) => {
      const fresh: Row[] = [];
      let cursor: string | null = null;
      do {
        const limit = Math.min(MAX_PAGE, wanted - fresh.length);
        const page: Page<Row> = await this.#source.load({ limit, cursor: cursor ?? undefined }, { signal });
        signal.throwIfAborted();
        fresh.push(...page.rows);
        cursor = page.nextCursor;
      } while (cursor !== null && fresh.length < wanted);
      this.#rows = fresh;
      this.#cursor = cursor;
      this.#arrived = 0;
      this.#reapply();
    });
  }

  /** Reads the next page, if there is one, after the current request. */
  async loadMore(): Promise<void> {
    this.#needsMore = true; // Stays set until the page arrives, because a reload aborts its request.
    if (this.#loading || this.#cursor === null) return;
    await this.#request(async (signal) => {
      const page = await this.#source.load({ limit: PAGE, cursor: this.#cursor ?? undefined }, { signal });
      signal.throwIfAborted();
      const present = new Set(this.#rows.slice(-PAGE).map(this.idOf));
      this.#rows.push(...page.rows.filter((row) => !present.has(this.idOf(row))));
      this.#cursor = page.nextCursor;
      this.#needsMore = false;
      this.#reapply();
    });
  }

  /** Adds or updates a row after an event. */
  put(row: Row): void {
    if (this.#loading) this.#changed.set(this.idOf(row), row);
    if (this.#state !== "first") this.#put(row);
    this.#renderSoon();
  }

  /** Removes a row after an event. */
  remove(id: string): void {
    if (this.#loading) this.#changed.set(id, null);
    const at = this.#rows.findIndex((row) => this.idOf(row) === id);
    if (at < 0) return;
    this.#rows.splice(at, 1);
    this.#arrived = Math.max(0, this.#arrived - (at < this.#arrived ? 1 : 0));
    this.#renderSoon();
  }

  /** Drops the rows that were created before a time. */
  dropBefore(time: string): void {
    let at = this.#firstNotNewer(time);
    while (at < this.#rows.length && this.#source.createdAt(this.#rows[at] as Row) === time) at += 1;
    if (at === this.#rows.length) return;
    this.#rows.splice(at);
    this.#arrived = Math.min(this.#arrived, at);
    this.#cursor = null; // The following pages are even older.
    this.#renderSoon();
  }

  /** Resets the number of arrived rows. */
  markSeen(): void {
    if (this.#arrived === 0) return;
    this.#arrived = 0;
    this.#renderSoon();
  }

  close(): void {
    this.#needsReload = false;
    this.#needsMore = false;
    this.#loading?.abort();
    this.#renderSoon.stop();
    this.reloadSoon.stop();
  }

  /** Aborts the current request and runs this one; events since its start are applied to its result. */
  async #request(run: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#loading?.abort();
    const controller = new AbortController();
    this.#loading = controller;
    this.#changed.clear();
    if (this.#state === "ready") this.#state = "loading";
    this.#render();
    try {
      await run(controller.signal);
      this.#error = null;
    } catch (error) {
      if (controller.signal.aborted) return;
      this.#error = error;
    }
    if (this.#loading !== controller) return;
    this.#loading = null;
    this.#state = this.#error && this.#rows.length === 0 ? "first" : "ready";
    this.#render();
    if (this.#needsMore && !this.#needsReload && !this.#error) void this.loadMore();
  }

  #reapply(): void {
    for (const [id, row] of this.#changed) {
      if (row) this.#put(row);
      else this.#rows = this.#rows.filter((one) => this.idOf(one) !== id);
    }
  }

  #put(row: Row): void {
    const { idOf, createdAt, merge = (_, newer) => newer } = this.#source;
    const [id, time] = [idOf(row), createdAt(row)];
    const from = this.#firstNotNewer(time);
    for (let at = from; at < this.#rows.length && createdAt(this.#rows[at] as Row) === time; at += 1) {
      if (idOf(this.#rows[at] as Row) !== id) continue;
      this.#rows[at] = merge(this.#rows[at] as Row, row);
      return;
    }
    const before = this.#rows.findIndex((one) => idOf(one) === id); // The row was deleted and created again.
    if (before >= 0) this.#rows.splice(before, 1);
    const isBeyond = from === this.#rows.length && this.#cursor !== null;
    if (isBeyond) return; // It is part of a page that is not loaded yet.
    const at = Math.min(from, this.#rows.length);
    this.#rows.splice(at, 0, row);
    if (at <= this.#arrived) this.#arrived += 1;
  }

  /** Returns the index of the first row that is not newer than this time, by binary search. */
  #firstNotNewer(time: string): number {
    let [low, high] = [0, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#source.createdAt(this.#rows[middle] as Row) > time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #render(): void {
    this.#renderSoon.stop();
    this.view.value = this.#currentView();
  }

  #currentView(): ListView<Row> {
    const [rows, state, error, arrived] = [this.#rows, this.#state, this.#error, this.#arrived];
    return { rows, state, error, arrived, hasMore: this.#cursor !== null };
  }
}
