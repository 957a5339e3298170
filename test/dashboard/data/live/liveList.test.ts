import { expect } from "chai";
import fc from "fast-check";
import { LiveList, type Page } from "../../../../src/dashboard/data/live/liveList.ts";
import { runs } from "../../../support/random.ts";

interface Row {
  readonly id: string;
  readonly createdAt: string;
  readonly version: number;
}

type Operation = "create" | "reload" | "more" | "respond" | { readonly change: number } | { readonly remove: number };

const operations = fc.array(
  fc.oneof(
    fc.constantFrom<Operation>("create", "create", "reload", "more", "respond", "respond"),
    fc.nat(400).map((change): Operation => ({ change })),
    fc.nat(400).map((remove): Operation => ({ remove })),
  ),
  { maxLength: 60 },
);

const timeOf = (at: number) => new Date(at * 1_000).toISOString();

/**
 * A service with a list, newest first. Its responses hold the state at the time of the request and wait for respond().
 */
class Service {
  #next = 0;
  rows: Row[] = [];
  readonly #pending: (() => void)[] = [];

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
    await new Promise<void>((pass) => this.#pending.push(pass));
    return { rows, nextCursor };
  }

  async respond(): Promise<void> {
    for (const pass of this.#pending.splice(0)) pass();
    await new Promise((later) => setImmediate(later));
  }

  get hasPending(): boolean {
    return this.#pending.length > 0;
  }
}

describe("live list", () => {
  it("equals the service's list in the end, in whatever order events and pages arrive", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(350), operations, async (length, operations) => {
        const service = new Service();
        for (let at = 0; at < length; at++) service.create();
        const list = new LiveList<Row>({
          idOf: (row) => row.id,
          createdAt: (row) => row.createdAt,
          merge: (_, newer) => newer,
          load: ({ limit, cursor }) => service.page(limit, cursor ?? null),
        });

        void list.reload();
        for (const operation of operations) {
          if (operation === "create") list.put(service.create());
          else if (operation === "reload") void list.reload();
          else if (operation === "more") void list.loadMore();
          else if (operation === "respond") await service.respond();
          else if ("change" in operation && operation.change < service.rows.length) {
            const row = service.rows[operation.change] as Row;
            service.rows[operation.change] = { ...row, version: row.version + 1 };
            list.put(service.rows[operation.change] as Row);
          } else if ("remove" in operation && operation.remove < service.rows.length) {
            const [row] = service.rows.splice(operation.remove, 1);
            list.remove((row as Row).id);
          }
        }
        while (service.hasPending) await service.respond();

        const { rows, hasMore, state } = list.view.value;
        expect(state).to.equal("ready");
        expect(rows).to.deep.equal(service.rows.slice(0, rows.length));
        if (!hasMore) expect(rows.length).to.equal(service.rows.length);
        list.close();
      }),
      runs(200),
    );
  });

  it("loads the next page that was requested during a reload or aborted by one", async () => {
    const service = new Service();
    for (let at = 0; at < 1_500; at++) service.create();
    const list = new LiveList<Row>({
      idOf: (row) => row.id,
      createdAt: (row) => row.createdAt,
      merge: (_, newer) => newer,
      load: ({ limit, cursor }) => service.page(limit, cursor ?? null),
    });
    const drain = async () => {
      while (service.hasPending) await service.respond();
      return list.view.value.rows.length;
    };

    void list.reload();
    void list.loadMore();
    const first = await drain();
    void list.loadMore();
    void list.reload();

    expect([first, await drain()]).to.deep.equal([600, 1_100]);
  });

  it("keeps its rows when a reload fails, and holds the error", async () => {
    const responses = [
      async () => ({ rows: [{ id: "a", createdAt: timeOf(1), version: 0 }], nextCursor: null }),
      async () => Promise.reject(new Error("away")),
    ];
    const list = new LiveList<Row>({
      idOf: (row) => row.id,
      createdAt: (row) => row.createdAt,
      merge: (_, newer) => newer,
      load: () => (responses.shift() as () => Promise<Page<Row>>)(),
    });

    await list.reload();
    await list.reload();

    const { rows, error } = list.view.value;
    expect([rows.length, (error as Error).message]).to.deep.equal([1, "away"]);
  });
});
