import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { CommandSettings } from "../../../src/agents/runners/command.ts";
import { createRunner } from "../../../src/agents/runners/createRunner.ts";
import type { AgentTurn } from "../../../src/agents/runners/runner.ts";
import { AppError } from "../../../src/shared/errors.ts";
import { eventually } from "../../support/eventually.ts";
import { turn, whatWasThrown } from "./turn.ts";

const PROMPT = "the secret prompt";
const ENVIRONMENT = { PATH: process.env.PATH, HOME: "/home/me", LC_TIME: "C", OPENAI_API_KEY: "sk-ours", TZ: "UTC" };
const PRINT_ARGS = "process.stdout.write(JSON.stringify(process.argv.slice(1)))";
const PRINT_ENV = "process.stdout.write(JSON.stringify(process.env))";

/** A command that runs this JavaScript. */
const node = (source: string, ...args: string[]) => [process.execPath, "-e", source, ...args];

describe("the command runner", () => {
  let dir: string;
  beforeEach(() => {
    dir = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-command-")));
  });
  afterEach(() => rmSync(dir, { recursive: true }));
  const ask = (
    command: string[],
    settings: Partial<CommandSettings> = {},
    given: Partial<AgentTurn> = {},
    signal = new AbortController().signal,
  ) => createRunner("command", { command: { command, ...settings } }, ENVIRONMENT).run(turn(PROMPT, given), signal);
  const askJson = async (...args: Parameters<typeof ask>) => JSON.parse((await ask(...args)).text);

  it("gives the prompt on standard input as it is, and takes standard output as the reply", async () => {
    const content = `${"Ünd 🚂 €\n".repeat(100_000)}end\n\n`;

    const { text } = await ask(["cat"], {}, turn(content));

    expect(text).to.equal(content.trimEnd());
  });

  it("gives a conversation under headings, each below a line with an id", async () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "One?" },
      { role: "assistant", content: "Two." },
      { role: "user", content: "Three?" },
    ] as const;

    const { text } = await ask(["cat"], {}, { messages });

    const [line = ""] = text.split("\n");
    expect(line).to.match(/^--- [0-9a-f]{32} ---$/);
    expect(text.replaceAll(`${line}\n`, "")).to.equal(
      "# System\n\nBe brief.\n\n# User\n\nOne?\n\n# Assistant\n\nTwo.\n\n# User\n\nThree?",
    );
  });

  it("keeps letters whole that arrive in pieces", async () => {
    const slowly = `
      const bytes = Buffer.from("\\u20ac\\u{1f682}");
      const next = (i) => i < bytes.length && process.stdout.write(bytes.subarray(i, i + 1), () => setImmediate(next, i + 1));
      next(0);`;

    expect(await ask(node(slowly))).to.deep.equal({ text: "€🚂" });
  });

  it("takes an empty output as an empty reply, from a program that does not read its input either", async () => {
    expect(await ask(["true"], {}, turn("x".repeat(1_000_000)))).to.deep.equal({ text: "" });
  });

  it("runs in cwd", async () => {
    expect(await ask(["pwd"], { cwd: dir })).to.deep.equal({ text: dir });
  });

  describe("its arguments", () => {
    const cases: [string, string[], Partial<AgentTurn>, string[]][] = [
      ["are no shell's", ["$HOME", "; ls", "a b"], {}, ["$HOME", "; ls", "a b"]],
      [
        "hold model and thinking",
        ["--model", "{model}", "--x={thinking}/{model}", "{other}"],
        { model: "m$&", thinking: "{model}" },
        ["--model", "m$&", "--x={model}/m$&", "{other}"],
      ],
      [
        "are left out with their flag where nothing is set",
        ["run", "--model", "{model}", "-c", "effort={thinking}", "-"],
        {},
        ["run", "-"],
      ],
      ["are left out alone when they are flags themselves", ["--yes", "--model={model}"], {}, ["--yes"]],
      ["are left out alone after what is no flag", ["run", "{model}"], { thinking: "low" }, ["run"]],
    ];
    for (const [title, args, given, expected] of cases) {
      it(title, async () => {
        expect(await askJson(node(PRINT_ARGS, "--", ...args), {}, given)).to.deep.equal(expected);
      });
    }

    it("refuse a model that would be a flag", async () => {
      const thrown = await whatWasThrown(ask(["echo", "{model}"], {}, { model: "--dangerous" }));

      expect(thrown).to.include({
        code: "agent_failed",
        message: "The model of this run cannot stand on a command line.",
      });
    });
  });

  it("gives a program only what is passed and set of the environment, the turn's own over all", async () => {
    const settings = { passEnv: ["TZ", "ABSENT"], env: { A: "settings", B: "settings" } };

    const env = await askJson(node(PRINT_ENV), settings, { env: { B: "turn", SIGNALBOX_JOB_ID: "job-1" } });
    delete env.NODE_V8_COVERAGE; // Node passes it on by itself where coverage is measured

    expect(env).to.deep.equal({
      PATH: process.env.PATH,
      HOME: "/home/me",
      LC_TIME: "C",
      TZ: "UTC",
      A: "settings",
      B: "turn",
      SIGNALBOX_JOB_ID: "job-1",
    });
  });

  describe("with JSON output", () => {
    const print = (text: string) => node(`process.stdout.write(${JSON.stringify(text)})`);
    const replies: [string, Partial<CommandSettings>][] = [
      [`{"type":"result","is_error":false,"result":"Done.\\n"}`, {}],
      [`{"response":"Done.","error":null}`, { replyField: "response" }],
    ];
    for (const [printed, settings] of replies) {
      it(`takes the reply from ${printed}`, async () => {
        expect(await ask(print(printed), { output: "json", ...settings })).to.deep.equal({ text: "Done." });
      });
    }
    const failures: [string, RegExp][] = [
      [`{"is_error":true,"result":"${PROMPT}"}`, /says that it is an error/],
      [`{"error":{"message":"${PROMPT}"},"result":"x"}`, /says that it is an error/],
      [`{"response":"${PROMPT}"}`, /no text in its field result/],
      [`{"result":null}`, /no text in its field result/],
      [`Warning: ${PROMPT}`, /not one JSON object/],
      ["null", /not one JSON object/],
      ['["done"]', /not one JSON object/],
      ["", /not one JSON object/],
    ];
    for (const [printed, message] of failures) {
      it(`makes agent_failed of ${printed || "nothing"}`, async () => {
        const thrown = await whatWasThrown(ask(print(printed), { output: "json" }));

        expect(thrown.code).to.equal("agent_failed");
        expect(thrown.message).to.match(message);
        expect(`${thrown.stack} ${thrown.cause}`).to.not.include(PROMPT);
      });
    }
  });

  const failures: [string, string[], Partial<CommandSettings>, { code: string; message: RegExp }][] = [
    [
      "an exit code",
      node("console.error('the secret prompt'); process.exit(42)"),
      {},
      { code: "agent_failed", message: /exit code 42\.$/ },
    ],
    [
      "somebody's signal",
      node("process.kill(process.pid, 'SIGKILL')"),
      {},
      { code: "agent_unavailable", message: /ended by SIGKILL\.$/ },
    ],
    [
      "a program that is not there",
      ["signalbox-no-such-program", PROMPT],
      {},
      { code: "agent_failed", message: /\(ENOENT\)/ },
    ],
    ["a cwd that is not there", ["true"], { cwd: "/no/such/folder" }, { code: "agent_failed", message: /\(ENOENT\)/ }],
    ["a program that may not be run", ["/dev/null"], {}, { code: "agent_failed", message: /\(EACCES\)/ }],
    [
      "an argument that cannot be one",
      ["true", "a\0b"],
      {},
      { code: "agent_failed", message: /\(ERR_INVALID_ARG_VALUE\)/ },
    ],
    ["too many arguments", ["true", "x".repeat(3_000_000)], {}, { code: "agent_failed", message: /\(E2BIG\)/ }],
    [
      "too much output",
      ["yes", PROMPT],
      { maxOutputBytes: 100_000 },
      { code: "agent_failed", message: /maxOutputBytes/ },
    ],
  ];
  for (const [title, command, settings, expected] of failures) {
    it(`makes ${expected.code} of ${title}, and quotes nothing`, async () => {
      const thrown = await whatWasThrown(ask(command, settings));

      expect(thrown).to.include({ code: expected.code, cause: undefined });
      expect(thrown.message).to.match(expected.message);
      expect(thrown.stack).to.not.include(PROMPT);
    });
  }

  const stops: [string, Error, string][] = [
    ["timeout of one whose time is up", new DOMException("late", "TimeoutError"), "timeout"],
    ["the reason of one that is stopped for another", new AppError("cancelled"), "cancelled"],
  ];
  for (const [title, reason, code] of stops) {
    it(`makes ${title}`, async () => {
      const stop = new AbortController();
      const running = whatWasThrown(
        ask(node("require('fs').writeFileSync('up', ''); setInterval(() => {}, 1000)"), { cwd: dir }, {}, stop.signal),
      );
      await eventually(() => existsSync(join(dir, "up")), "the program to be up");

      stop.abort(reason);

      expect((await running).code).to.equal(code);
    });

    it(`makes ${title}, and starts nothing when the signal has fired before`, async () => {
      const thrown = await whatWasThrown(ask(["touch", "started"], { cwd: dir }, {}, AbortSignal.abort(reason)));

      expect(thrown.code).to.equal(code);
      expect(existsSync(join(dir, "started"))).to.equal(false);
    });
  }

  it("has an output of exactly its limit", async () => {
    expect(await ask(["printf", "12345"], { maxOutputBytes: 5 })).to.deep.equal({ text: "12345" });
  });

  it("needs a program", () => {
    expect(() => createRunner("command", {}, {})).to.throw(AppError, "agents.runners.command.command");
    expect(() => createRunner("command", { command: { command: [] } }, {})).to.throw(AppError, "agents.runners");
  });
});
