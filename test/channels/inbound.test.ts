import { expect } from "chai";
import { readDiscordPress } from "../../src/channels/discord/inbound.ts";
import type { ReceivedAct } from "../../src/channels/inbound.ts";
import { readSlackAct } from "../../src/channels/slack/inbound.ts";
import { readTelegramAct } from "../../src/channels/telegram/inbound.ts";
import { buttonData } from "../../src/shared/chatEvent.ts";

const DATA = buttonData("b".repeat(22), "accept");

const DISCORD = {
  id: "1",
  application_id: "2",
  type: 3,
  token: "a.b-c",
  member: { user: { id: "3", username: "ann" } },
  channel_id: "4",
  message: { id: "5" },
  data: { custom_id: DATA },
};
const SLACK_PRESS = {
  type: "block_actions",
  user: { id: "U0ANN", name: "ann" },
  container: { channel_id: "C0OPS", message_ts: "1.1" },
  actions: [{ value: DATA, action_ts: "2.2" }],
};
const SLACK_EVENT = {
  type: "event_callback",
  event: { type: "message", user: "U0ANN", text: "Hi", channel: "C0OPS", ts: "1.1", thread_ts: "1.0" },
};
const TELEGRAM_PRESS = {
  update_id: 1,
  callback_query: {
    id: "1",
    from: { id: 7, first_name: "Ann" },
    message: { message_id: 2, chat: { id: 3 } },
    data: DATA,
  },
};
const TELEGRAM_MESSAGE = {
  update_id: 1,
  message: {
    from: { id: 7, first_name: "Ann" },
    chat: { id: 3 },
    text: "Hi",
    reply_to_message: { message_id: 2 },
    message_thread_id: 4,
  },
};

const READERS: readonly [title: string, read: (body: unknown) => ReceivedAct | null, valid: object][] = [
  ["a press in Discord", readDiscordPress, DISCORD],
  ["a press in Slack", readSlackAct, SLACK_PRESS],
  ["a message in Slack", readSlackAct, SLACK_EVENT],
  ["a press in Telegram", (body) => readTelegramAct({ botToken: "9:s" }, body), TELEGRAM_PRESS],
  ["a message in Telegram", (body) => readTelegramAct({ botToken: "9:s" }, body), TELEGRAM_MESSAGE],
];
/** Values that a field may have in place of its own. */
const ODD = [undefined, null, true, -1.5, "", "../x", "x".repeat(100_000), [], [null], {}, { id: {} }];

/** Returns the paths of all fields of a value, at every depth. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  const children = typeof value === "object" && value !== null ? Object.entries(value) : [];
  return [path, ...children.flatMap(([key, child]) => pathsOf(child, [...path, key]))];
}

/** Returns a copy of a value with another one at a path. */
function replaced(value: unknown, [key, ...rest]: readonly string[], by: unknown): unknown {
  if (key === undefined) return by;
  const child = (value as Record<string, unknown>)[key];
  const changed = { ...(value as object), [key]: replaced(child, rest, by) };
  return Array.isArray(value) ? Object.values(changed) : changed;
}

describe("what a service sends about an act of a person", () => {
  for (const [title, read, valid] of READERS) {
    it(`is read, or ignored if a field has another type: ${title}`, () => {
      expect(read(valid)).to.have.nested.property("event.person.id");
      for (const path of pathsOf(valid)) {
        for (const odd of ODD) {
          const act = read(replaced(valid, path, odd));
          if (!act) continue;
          const { person, kind } = act.event;
          const names = [act.id, person.id, kind === "press" ? act.event.reply : act.event.to];
          for (const name of [...names, person.name]) expect(name, path.join(".")).to.be.a("string");
          for (const name of names) expect(name, path.join(".")).to.match(/^[\w.:/=-]{1,1100}$/);
          expect(person.name.length, path.join(".")).to.be.at.most(64);
        }
      }
    });
  }
});
