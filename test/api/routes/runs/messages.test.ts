import { expect } from "chai";
import { useSharedApp } from "../../../support/useApp.ts";

const RUN = "7d3c9b1e-2f64-4a0e-8a55-0c9e6f1b2d34";

describe("GET /api/sessions/:sessionKey/messages", () => {
  const app = useSharedApp();
  before(async () => {
    const turn = (sessionKey: string, n: number) => ({
      sessionKey,
      prompt: `Question ${n}`,
      outside: false,
      reply: `Reply ${n}`,
      endedAt: app.clock.now(),
    });
    for (let n = 0; n < 5; n++) await app.stores.messages.addTurn(`${RUN}-${n}`, turn("hook:ci", n));
    await app.stores.messages.addTurn("events-a-b", turn("main", 0));
  });
  const read = async (query = "", sessionKey = "hook%3Aci") =>
    (await app.call("GET", `/api/sessions/${sessionKey}/messages${query}`)).body;
  const texts = (body: { messages: { content: string }[] }) => body.messages.map(({ content }) => content);

  it("returns the latest messages with their run, oldest first", async () => {
    const body = await read("?limit=2");

    expect(texts(body)).to.deep.equal(["Question 4", "Reply 4"]);
    expect(body.messages[0]).to.include({ messageId: `${RUN}-4-0`, runId: RUN, role: "user" });
    expect(body.nextCursor).to.be.a("string");
  });

  it("returns all messages over pages of any size, each once", async () => {
    for (const limit of [1, 3, 4, 10]) {
      const pages: string[][] = [];
      let query = `?limit=${limit}`;
      for (let cursor: string | null = ""; cursor !== null; query = `?limit=${limit}&cursor=${cursor}`) {
        const body = await read(query);
        pages.unshift(texts(body));
        cursor = body.nextCursor;
      }
      const all = [0, 1, 2, 3, 4].flatMap((n) => [`Question ${n}`, `Reply ${n}`]);
      expect(pages.flat(), `pages of ${limit}`).to.deep.equal(all);
    }
  });

  it("returns no run for the main session, and no cursor for its only page", async () => {
    const body = await read("", "main");

    expect(body.messages[0]).to.include({ messageId: "events-a-b-0", runId: null });
    expect(body.nextCursor).to.equal(null);
  });

  it("rejects a cursor that it did not return, and a session that does not exist", async () => {
    const [cursor, session] = [await read("?cursor=x"), await read("", "nobody")];

    expect([cursor.code, session.code]).to.deep.equal(["invalid_query", "session_not_found"]);
  });
});
