import { expect } from "chai";
import { mongo } from "mongoose";
import { Chat, type Followed } from "../../../src/workers/live/chat.ts";

const PACE = { editMs: 3_000, firstMs: 1_000, channelMs: 0 };
const TICK_MS = 250;

const chatOf = (use = { lastRequestAt: Number.NEGATIVE_INFINITY }, pace = PACE) =>
  new Chat("telegram", "1234", { pace, use });

function messageOf(chat: Chat, id: string, more: Partial<Followed> = {}): Followed {
  const job = { job: new mongo.ObjectId(), jobId: id, name: id };
  return {
    id,
    chat,
    job,
    isShown: false,
    isOver: false,
    isDeleted: false,
    text: undefined,
    points: [],
    notBefore: 0,
    ...more,
  };
}

/** Takes what a chat has at each tick of a time, as the writer does, while every message changes all the time. */
function run(chat: Chat, messages: readonly Followed[], ms: number): { at: number; id: string; isEdit: boolean }[] {
  const taken: { at: number; id: string; isEdit: boolean }[] = [];
  for (let now = 0; now < ms; now += TICK_MS) {
    for (const message of messages) chat.add(message);
    const message = chat.take(now);
    if (!message) continue;
    taken.push({ at: now, id: message.id, isEdit: message.isShown });
    chat.countRequest(now, { isEdit: message.isShown });
    message.isShown = true;
  }
  return taken;
}

/** Returns the smallest difference between two neighbours. */
const smallestGap = (times: readonly number[]) => Math.min(...times.slice(1).map((at, i) => at - (times[i] ?? 0)));

describe("the pace of a chat", () => {
  it("is that of the service with 1,000 jobs that change all the time", () => {
    const chat = chatOf();
    const messages = Array.from({ length: 1_000 }, (_, n) => messageOf(chat, String(n)));

    const taken = run(chat, messages, 30 * 60_000);

    const edits = taken.filter(({ isEdit }) => isEdit);
    expect(smallestGap(taken.map(({ at }) => at))).to.equal(PACE.firstMs);
    expect(smallestGap(edits.map(({ at }) => at))).to.equal(PACE.editMs);
    expect(new Set(taken.map(({ id }) => id)).size).to.equal(1_000);
  });

  it("gives each of 1,000 messages its turn", () => {
    const chat = chatOf();
    const messages = Array.from({ length: 1_000 }, (_, n) => messageOf(chat, String(n), { isShown: true }));

    const taken = run(chat, messages, 2_000 * PACE.editMs);

    const turns = Map.groupBy(taken, ({ id }) => id);
    expect(new Set([...turns.values()].map(({ length }) => length))).to.deep.equal(new Set([2]));
    expect(turns.size).to.equal(1_000);
  });

  it("is shared by the chats of a channel where the service limits all of them", () => {
    const use = { lastRequestAt: Number.NEGATIVE_INFINITY };
    const chats = [1, 2, 3].map(() => chatOf(use, { ...PACE, channelMs: 1_250 }));
    const messages = chats.map((chat, n) => messageOf(chat, String(n), { isShown: true }));
    const times: number[] = [];
    for (let now = 0; now < 60_000; now += TICK_MS) {
      for (const message of messages) message.chat.add(message);
      for (const chat of chats) {
        if (!chat.take(now)) continue;
        times.push(now);
        chat.countRequest(now, { isEdit: true });
      }
    }

    expect(smallestGap(times)).to.equal(1_250);
  });

  it("passes over a message that waits, and rests as long as the service asks for", () => {
    const chat = chatOf();
    const [waits, next] = [messageOf(chat, "a", { notBefore: 10_000 }), messageOf(chat, "b")];
    chat.add(waits);
    chat.add(next);

    expect(chat.take(0)).to.equal(next);
    chat.rest(20_000, 0);
    expect(chat.take(19_999)).to.equal(undefined);
    expect(chat.take(20_000)).to.equal(waits);
  });

  it("makes one request at a time", () => {
    const chat = chatOf();
    chat.add(messageOf(chat, "a"));
    chat.isBusy = true;

    expect(chat.take(0)).to.equal(undefined);
  });
});
