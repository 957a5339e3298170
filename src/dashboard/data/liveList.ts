import { Store } from "./store.ts";

export interface Page<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor: string | null;
}

export interface ListSource<Row> {
  readonly idOf: (row: Row) => string;
  readonly createdAt: (row: Row) => string;
  readonly load: (request: { limit: number; cursor: string | null; signal: AbortSignal }) => Promise<Page<Row>>;
  /** What to show of a row after news of it: never what is older. */
  readonly merge: (shown: Row, news: Row) => Row;
}

export interface ListView<Row> {
  readonly rows: readonly Row[];
  /** Whether there is more to load. */
  readonly hasMore: boolean;
  /** `first`: nothing is there yet. */
  readonly state: "first" | "ready" | "loading";
  readonly error: unknown;
  /** How many rows live news have put before all others since the list was read. */
  readonly arrived: number;
}

/** The first page is small, so that something is seen at once. */
const FIRST_PAGE = 100;
const PAGE = 500;
const MAX_PAGE = 1_000;
const RENDER_EVERY_MS = 16;

/**
 * A list that is newest first, read page by page and kept as new as the live news that come meanwhile, in any order: a row
 * that news have touched since a page was asked for is newer than that page.
 */
export class LiveList<Row> {
  readonly view: Store<ListView<Row>>;
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
  /** The rows that news have told of since the last request began, by their ids; null for one that is gone. */
  readonly #changed = new Map<string, Row | null>();
  #loading: AbortController | null = null;
  #renderTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(source: ListSource<Row>) {
    this.#source = source;
    this.view = new Store<ListView<Row>>(this.#currentView());
  }

  /** Reads what is shown anew, at least the first page; asked for meanwhile, once more after that. */
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

  /** Reads the first page anew, and lets go of all others: nobody looks at them. */
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
        const page: Page<Row> = await this.#source.load({ limit, cursor, signal });
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

  /** Reads the next page, if there is one; after what is being read. */
  async loadMore(): Promise<void> {
    this.#needsMore = true; // until it has come: a reload ends a reading of more
    if (this.#loading || this.#cursor === null) return;
    await this.#request(async (signal) => {
      const page = await this.#source.load({ limit: PAGE, cursor: this.#cursor, signal });
      signal.throwIfAborted();
      const known = new Set(this.#rows.slice(-PAGE).map(this.#source.idOf));
      this.#rows.push(...page.rows.filter((row) => !known.has(this.#source.idOf(row))));
      this.#cursor = page.nextCursor;
      this.#needsMore = false;
      this.#reapply();
    });
  }

  /** News of a row: as it is now. */
  put(row: Row): void {
    if (this.#loading) this.#changed.set(this.#source.idOf(row), row);
    if (this.#state !== "first") this.#put(row);
    this.#scheduleRender();
  }

  /** News of a row that is not in the list any more. */
  remove(id: string): void {
    if (this.#loading) this.#changed.set(id, null);
    const at = this.#rows.findIndex((row) => this.#source.idOf(row) === id);
    if (at < 0) return;
    this.#rows.splice(at, 1);
    this.#arrived = Math.max(0, this.#arrived - (at < this.#arrived ? 1 : 0));
    this.#scheduleRender();
  }

  /** Lets go of what was made before a time. */
  dropBefore(time: string): void {
    let at = this.#firstNotNewer(time);
    while (at < this.#rows.length && this.#source.createdAt(this.#rows[at] as Row) === time) at += 1;
    if (at === this.#rows.length) return;
    this.#rows.splice(at);
    this.#arrived = Math.min(this.#arrived, at);
    this.#cursor = null; // the pages that follow are older still
    this.#scheduleRender();
  }

  /** What has arrived has been seen. */
  markSeen(): void {
    if (this.#arrived === 0) return;
    this.#arrived = 0;
    this.#scheduleRender();
  }

  close(): void {
    this.#needsReload = false;
    this.#needsMore = false;
    this.#loading?.abort();
    clearTimeout(this.#renderTimer);
  }

  async #request(act: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.#loading?.abort();
    const controller = new AbortController();
    this.#loading = controller;
    this.#changed.clear();
    if (this.#state === "ready") this.#state = "loading";
    this.#render();
    try {
      await act(controller.signal);
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
      else this.#rows = this.#rows.filter((one) => this.#source.idOf(one) !== id);
    }
  }

  #put(row: Row): void {
    const { idOf, createdAt, merge } = this.#source;
    const [id, time] = [idOf(row), createdAt(row)];
    const from = this.#firstNotNewer(time);
    for (let at = from; at < this.#rows.length && createdAt(this.#rows[at] as Row) === time; at += 1) {
      if (idOf(this.#rows[at] as Row) !== id) continue;
      this.#rows[at] = merge(this.#rows[at] as Row, row);
      return;
    }
    const before = this.#rows.findIndex((one) => idOf(one) === id); // deleted and made again under the same name
    if (before >= 0) this.#rows.splice(before, 1);
    const isBeyond = from === this.#rows.length && this.#cursor !== null;
    if (isBeyond) return; // its page will bring it
    const at = Math.min(from, this.#rows.length);
    this.#rows.splice(at, 0, row);
    if (at <= this.#arrived) this.#arrived += 1;
  }

  /** Where a row made at this time belongs: by halves, as the list is ordered. */
  #firstNotNewer(time: string): number {
    let [low, high] = [0, this.#rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#source.createdAt(this.#rows[middle] as Row) > time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** News come in bursts: the page is drawn once for a frame's worth of them. */
  #scheduleRender(): void {
    this.#renderTimer ??= setTimeout(() => this.#render(), RENDER_EVERY_MS);
  }

  #render(): void {
    clearTimeout(this.#renderTimer);
    this.#renderTimer = undefined;
    this.view.set(this.#currentView());
  }

  #currentView(): ListView<Row> {
    const [rows, state, error, arrived] = [this.#rows, this.#state, this.#error, this.#arrived];
    return { rows, state, error, arrived, hasMore: this.#cursor !== null };
  }
}
