import { expect } from "chai";
import fc from "fast-check";
import { LiveList, type Page } from "../../src/dashboard/data/liveList.ts";
import { runs } from "../support/random.ts";

interface Row {
  readonly id: string;
  readonly createdAt: string;
  readonly version: number;
}

type Act = "create" | "reload" | "more" | "answer" | { readonly change: number } | { readonly remove: number };

const acts = fc.array(
  fc.oneof(
    fc.constantFrom<Act>("create", "create", "reload", "more", "answer", "answer"),
    fc.nat(400).map((change): Act => ({ change })),
    fc.nat(400).map((remove): Act => ({ remove })),
  ),
  { maxLength: 60 },
);

const timeOf = (at: number) => new Date(at * 1_000).toISOString();

/** A list on a service, newest first, whose answers come when they are let through: they tell how it was when they were asked for. */
class Service {
  #next = 0;
  rows: Row[] = [];
  readonly #waiting: (() => void)[] = [];

  create(): Row {
    this.#next += 1;
    const row = { id: `row-${this.#next}`, createdAt: timeOf(this.#next), version: 0 };
    this.rows.unshift(row);
    return row;
  }

  async page(limit: number, cursor: string | null): Promise<Page<Row>> {
    const older = this.rows.filter(({ createdAt }) => cursor === null || createdAt < cursor);
    const rows = older.slice(0, limit);
    const nextCursor = older.length > limit ? (rows.at(-1) as Row).createdAt : null;
    await new Promise<void>((pass) => this.#waiting.push(pass));
    return { rows, nextCursor };
  }

  async answer(): Promise<void> {
    for (const pass of this.#waiting.splice(0)) pass();
    await new Promise((later) => setImmediate(later));
  }

  get isAsked(): boolean {
    return this.#waiting.length > 0;
  }
}

describe("a live list", () => {
  it("ends as the service's, whatever news cross its pages on the way", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(350), acts, async (length, acts) => {
        const service = new Service();
        for (let at = 0; at < length; at++) service.create();
        const list = new LiveList<Row>({
          idOf: (row) => row.id,
          createdAt: (row) => row.createdAt,
          merge: (_, news) => news,
          load: ({ limit, cursor }) => service.page(limit, cursor),
        });

        void list.reload();
        for (const act of acts) {
          if (act === "create") list.put(service.create());
          else if (act === "reload") void list.reload();
          else if (act === "more") void list.loadMore();
          else if (act === "answer") await service.answer();
          else if ("change" in act && act.change < service.rows.length) {
            const row = service.rows[act.change] as Row;
            service.rows[act.change] = { ...row, version: row.version + 1 };
            list.put(service.rows[act.change] as Row);
          } else if ("remove" in act && act.remove < service.rows.length) {
            const [row] = service.rows.splice(act.remove, 1);
            list.remove((row as Row).id);
          }
        }
        while (service.isAsked) await service.answer();

        const { rows, hasMore, state } = list.view.value;
        expect(state).to.equal("ready");
        expect(rows).to.deep.equal(service.rows.slice(0, rows.length));
        if (!hasMore) expect(rows.length).to.equal(service.rows.length);
        list.close();
      }),
      runs(200),
    );
  });

  it("reads the more that was asked for while it was read anew, or whose reading that ended", async () => {
    const service = new Service();
    for (let at = 0; at < 1_500; at++) service.create();
    const list = new LiveList<Row>({
      idOf: (row) => row.id,
      createdAt: (row) => row.createdAt,
      merge: (_, news) => news,
      load: ({ limit, cursor }) => service.page(limit, cursor),
    });
    const settle = async () => {
      while (service.isAsked) await service.answer();
      return list.view.value.rows.length;
    };

    void list.reload();
    void list.loadMore();
    const first = await settle();
    void list.loadMore();
    void list.reload();

    expect([first, await settle()]).to.deep.equal([600, 1_100]);
  });

  it("keeps what it shows when it cannot be read again, and says why", async () => {
    const answers = [
      async () => ({ rows: [{ id: "a", createdAt: timeOf(1), version: 0 }], nextCursor: null }),
      async () => Promise.reject(new Error("away")),
    ];
    const list = new LiveList<Row>({
      idOf: (row) => row.id,
      createdAt: (row) => row.createdAt,
      merge: (_, news) => news,
      load: () => (answers.shift() as () => Promise<Page<Row>>)(),
    });

    await list.reload();
    await list.reload();

    const { rows, error } = list.view.value;
    expect([rows.length, (error as Error).message]).to.deep.equal([1, "away"]);
  });
});
