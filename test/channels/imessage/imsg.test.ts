import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { OutgoingMessage, SendOutcome } from "../../../src/channels/channel.ts";
import { imessageChannel } from "../../../src/channels/imessage/channel.ts";
import { eventually } from "../../support/eventually.ts";
import { inBriefTime, KEY, kindOf, TEXT } from "../describeChannel.ts";

const TO = "+4915111111111";
const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: "/home/me",
  SSH_AUTH_SOCK: "/agent",
  SIGNALBOX_TOKEN: "our-secret",
};

/** Replaces imsg: records its call in the folder and prints the reply; ends when its input ends. */
const standIn = (dir: string, reply: string) => `
  const { writeFileSync, renameSync } = require("node:fs");
  const called = ${JSON.stringify(join(dir, "called"))};
  const say = (text) => process.stdout.write(text + "\\n");
  const answer = (more) => say(JSON.stringify({ jsonrpc: "2.0", id: 1, ...more }));
  let input = "";
  process.stdin.on("data", (chunk) => {
    input += chunk;
    if (!input.endsWith("\\n")) return;
    const request = JSON.parse(input);
    const { pid, env, argv } = process;
    writeFileSync(called + ".part", JSON.stringify({ args: argv.slice(1), env, pid, request }));
    renameSync(called + ".part", called);
    setImmediate(() => { ${reply} });
  });
  process.stdin.on("end", () => process.exit(0));`;
const answers = (more: object) => `answer(${JSON.stringify(more)})`;
const refuses = (code: unknown, data?: unknown, message: unknown = "Internal error") =>
  answers({ error: { code, message, data } });
const failed = (words: string) => refuses(-32603, words);

const DELIVERED = answers({ result: { ok: true, transport: "applescript", id: 1979, guid: "8DF-1" } });

describe("iMessage channel through the imsg command", () => {
  let dir: string;
  beforeEach(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-imsg-")));
  });
  afterEach(() => rmSync(dir, { recursive: true }));
  const open = (command: string[]) =>
    imessageChannel({ kind: "imsg", command, apiUrl: "http://127.0.0.1:1234", method: "apple-script" }, ENVIRONMENT);
  const imsg = (reply: string) => open([process.execPath, "-e", standIn(dir, reply), "--", "--db", "chat.db"]);
  const called = () => JSON.parse(readFileSync(join(dir, "called"), "utf8"));
  const wasCalled = () => existsSync(join(dir, "called"));

  async function send(
    channel: ReturnType<typeof open>,
    message: Partial<OutgoingMessage> = {},
    signal = new AbortController().signal,
  ): Promise<SendOutcome> {
    const result = await channel.send(
      { to: TO, text: TEXT, plainText: TEXT, plain: false, key: KEY, ...message },
      signal,
    );
    expect(JSON.stringify(result))
      .to.not.include(message.text ?? TEXT)
      .and.not.include(TO);
    return result;
  }

  for (const plain of [false, true]) {
    it(`sends a ${plain ? "plain " : ""}message through standard input and not in an argument`, async () => {
      const result = await send(imsg(DELIVERED), { plain });

      expect(result).to.deep.equal({ kind: "sent", id: "8DF-1" });
      const { args, request } = called();
      expect(args).to.deep.equal(["--db", "chat.db", "rpc"]);
      expect(request).to.deep.equal({
        jsonrpc: "2.0",
        id: 1,
        method: "send",
        params: { to: TO, service: "auto", text: TEXT },
      });
    });
  }

  it("passes only the needed environment variables to the command", async () => {
    await send(imsg(DELIVERED));

    expect(called().env).to.deep.include({ PATH: process.env.PATH, HOME: "/home/me", SSH_AUTH_SOCK: "/agent" });
    expect(called().env).to.not.have.property("SIGNALBOX_TOKEN");
  });

  const texts = [
    "- a list\n- of two",
    "--help",
    "$(touch called); `id` 'x' \"y\"",
    "ünd 🚂\u2028\n\n.",
    "x".repeat(4_000),
  ];
  for (const text of texts) {
    it(`sends ${JSON.stringify(text.slice(0, 30))} unchanged`, async () => {
      const result = await send(imsg(DELIVERED), { text });

      expect(result.kind).to.equal("sent");
      expect(called().request.params.text).to.equal(text);
    });
  }

  it("accepts 4,000 UTF-16 units of plain text and is not idempotent", () => {
    const { style, idempotentForMs } = open(["imsg"]);

    expect(style).to.deep.equal({ dialect: "plain", limit: 4_000, unit: "utf16" });
    expect(idempotentForMs).to.equal(0);
  });

  const recipients: [string, string, object][] = [
    ["a number with spaces and brackets", "+49 151 11111111", { to: TO, service: "auto" }],
    ["a mail address", " anna.k-m@example.org\n", { to: "anna.k-m@example.org", service: "auto" }],
    ["a chat with one person, by their address", `iMessage;-;${TO}`, { to: TO, service: "imessage" }],
    ["a chat with one by SMS", `SMS;-;${TO}`, { to: TO, service: "sms" }],
    ["a chat of newer Macs", `any;-;${TO}`, { to: TO, service: "auto" }],
    ["a group", " iMessage;+;chat1234567890 ", { chat_guid: "iMessage;+;chat1234567890" }],
  ];
  for (const [title, to, whom] of recipients) {
    it(`sends to ${title}`, async () => {
      const result = await send(imsg(DELIVERED), { to });

      expect(result.kind).to.equal("sent");
      expect(called().request.params).to.deep.equal({ ...whom, text: TEXT });
    });
  }

  for (const to of ["", "Anna", "Anna Smith", "anna k.m@example.org", "--db"]) {
    it(`returns gone for the recipient ${JSON.stringify(to)} without starting the command`, async () => {
      const result = await send(imsg(DELIVERED), { to });

      expect(result).to.deep.include({ kind: "gone" });
      expect(wasCalled()).to.equal(false);
    });
  }

  it("returns gone for a number with a trunk zero", async () => {
    const result = await send(imsg(DELIVERED), { to: "+49 (0)151 1234567" });

    expect(result.kind).to.equal("gone");
    expect(kindOf(result).reason).to.include("(0)");
    expect(wasCalled()).to.equal(false);
  });

  const results: [string, string, SendOutcome | { kind: SendOutcome["kind"] }][] = [
    ["a message that is not in its database yet", answers({ result: { ok: true } }), { kind: "sent", id: null }],
    ["an id that is a number", answers({ result: { ok: true, id: 1979 } }), { kind: "sent", id: "1979" }],
    [
      "an answer in two pieces",
      'process.stdout.write(\'{"id":1,"result":\'); setImmediate(() => say(\'{"ok":true}}\'))',
      { kind: "sent" },
    ],
    [
      "an answer after a banner and a notification",
      `say("Welcome."); say('{"method":"message"}'); ${DELIVERED}`,
      { kind: "sent" },
    ],
    ["an answer before a failure", `${DELIVERED}; process.exitCode = 1`, { kind: "sent" }],
    ["an answer without the expected fields", answers({ result: { id: { toString: 1 } } }), { kind: "ambiguous" }],
    [
      "rejected parameters",
      refuses(-32602, "Invalid chat target: unknown", "Invalid params"),
      { kind: "gone", reason: "imsg answered error -32602: Invalid chat target: unknown" },
    ],
    ["an unknown method", refuses(-32601, "send"), { kind: "authentication" }],
    [
      "Messages without permission to read",
      failed("authorization denied\n\n⚠️  Permission Error: … requires Full Disk Access permission.\n"),
      { kind: "authentication" },
    ],
    [
      "Messages without permission to send",
      failed("AppleScript failed: Not authorized to send Apple events."),
      { kind: "authentication" },
    ],
    [
      "a refused script",
      failed("AppleScript failed: Messages got an error: Can’t get buddy. (-1728)"),
      {
        kind: "transient",
        reason: "imsg answered error -32603: AppleScript failed: Messages got an error: Can’t get buddy. (-1728)",
      },
    ],
    ["a script that takes too long", failed("AppleScript failed: AppleEvent timed out."), { kind: "ambiguous" }],
    [
      "a message that was lost",
      failed("AppleScript failed: Messages accepted the chat send but wrote an unjoined empty outgoing row (7)"),
      { kind: "ambiguous" },
    ],
    ["another error", failed("disk I/O error"), { kind: "ambiguous" }],
    [
      "an error text that quotes the message",
      failed(`Cannot send "${TEXT}"`),
      { kind: "ambiguous", reason: "imsg answered error -32603" },
    ],
    [
      "an error text that names the recipient",
      failed(`No account for ${TO}`),
      { kind: "ambiguous", reason: "imsg answered error -32603: No account for …" },
    ],
    ["an error with fields of unexpected types", refuses({ toString: 1 }, { toString: 1 }, 7), { kind: "ambiguous" }],
    [
      "a command that exits without an answer",
      "process.exit(3)",
      {
        kind: "ambiguous",
        reason: "The program of channels.imessage.command ended with exit code 3 before it answered.",
      },
    ],
    ["a command that is ended by a signal", "process.kill(process.pid, 'SIGKILL')", { kind: "ambiguous" }],
    ["a shell that does not find the command", "process.exit(127)", { kind: "authentication" }],
    ["an answer that is not JSON", `say(${JSON.stringify(TEXT)}); process.exit(0)`, { kind: "ambiguous" }],
    ["an endless answer", "setInterval(() => say('x'.repeat(100_000)), 1)", { kind: "ambiguous" }],
  ];
  for (const [title, reply, expected] of results) {
    it(`returns ${expected.kind} for ${title}`, async () => {
      expect(await send(imsg(reply))).to.deep.include(expected);
    });
  }

  const missing: [string, string[], RegExp][] = [
    ["is not there", ["signalbox-no-such-program"], /cannot be started \(ENOENT\)/],
    ["may not be run", ["/dev/null"], /cannot be started \(EACCES\)/],
  ];
  for (const [title, command, reason] of missing) {
    it(`returns authentication, which pauses the channel, when the program ${title}`, async () => {
      const result = await send(open(command));

      expect(kindOf(result)).to.deep.include({ kind: "authentication" });
      expect(kindOf(result).reason).to.match(reason);
    });
  }

  it("returns ambiguous and ends the command when the worker stops", async () => {
    const stop = new AbortController();
    const sending = send(imsg(""), {}, stop.signal);
    await eventually(wasCalled, "the command to be called");

    stop.abort();

    expect(await sending).to.deep.include({ kind: "ambiguous" });
    expect(() => process.kill(called().pid, 0)).to.throw(/ESRCH/);
  });

  it("returns ambiguous and ends a command that does not answer within the time limit", async () => {
    const { result, forMs } = await inBriefTime(() => send(imsg("")));

    expect(result).to.deep.include({ kind: "ambiguous", reason: "imsg was stopped before it answered." });
    expect(forMs).to.be.within(10_000, 150_000);
  });

  it("returns transient and starts no command after the worker has stopped", async () => {
    const result = await send(imsg(DELIVERED), {}, AbortSignal.abort());

    expect(result.kind).to.equal("transient");
    expect(wasCalled()).to.equal(false);
  });

  describe("check", () => {
    const cases: [string, string, boolean, RegExp][] = [
      [
        "succeeds for a command that may read Messages",
        answers({ result: { chats: [{ id: 1, name: "Anna" }] } }),
        true,
        /^imsg answers and is allowed/,
      ],
      [
        "fails for a command that may not read Messages",
        failed("Permission Error: requires Full Disk Access permission."),
        false,
        /Full Disk Access/,
      ],
      ["fails for a command with another answer", answers({ result: { ok: true } }), false, /is not imsg/],
      ["fails for a command that exits", "process.exit(1)", false, /exit code 1/],
    ];
    for (const [title, reply, ok, detail] of cases) {
      it(title, async () => {
        const found = await imsg(reply).check(new AbortController().signal);

        expect(found.ok).to.equal(ok);
        expect(found.detail).to.match(detail);
        expect(called().request).to.deep.equal({ jsonrpc: "2.0", id: 1, method: "chats.list", params: { limit: 1 } });
      });
    }

    it("fails for a command that does not exist", async () => {
      const found = await open(["signalbox-no-such-program"]).check(new AbortController().signal);

      expect(found.ok).to.equal(false);
      expect(found.detail).to.match(/ENOENT/);
    });
  });
});
