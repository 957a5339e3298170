import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { CommandSettings } from "../../../src/agents/runners/command.ts";
import { createRunner } from "../../../src/agents/runners/createRunner.ts";
import type { AgentTurn, TurnEvent } from "../../../src/agents/runners/runner.ts";
import { AppError } from "../../../src/shared/errors.ts";
import { eventually } from "../../support/eventually.ts";
import { turn, whatWasThrown } from "./turn.ts";

const PROMPT = "the secret prompt";
const ENVIRONMENT = { PATH: process.env.PATH, HOME: "/home/me", LC_TIME: "C", OPENAI_API_KEY: "sk-ours", TZ: "UTC" };
const PRINT_ARGS = "process.stdout.write(JSON.stringify(process.argv.slice(1)))";
const PRINT_ENV = "process.stdout.write(JSON.stringify(process.env))";

/** Returns a command that runs this JavaScript. */
const node = (source: string, ...args: string[]) => [process.execPath, "-e", source, ...args];

describe("The command runner", () => {
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

  it("passes the unchanged prompt on standard input and returns standard output as the reply", async () => {
    const content = `${"Ünd 🚂 €\n".repeat(100_000)}end\n\n`;

    const { text } = await ask(["cat"], {}, turn(content));

    expect(text).to.equal(content.trimEnd());
  });

  it("passes on the last 4 KiB of standard error as text, with the values of variables masked, also of a failure", async () => {
    const stderr: string[] = [];
    const onStderr = (text: string) => stderr.push(text);
    const print = `console.error("é".repeat(5000) + "\\x1b[31mkey " + process.env.KEY); process.exitCode = Number(process.argv[1])`;

    await ask(node(print, "0"), { env: { KEY: "a-secret-value" } }, { onStderr }).catch(() => {});
    const thrown = await whatWasThrown(ask(node(print, "3"), { env: { KEY: "a-secret-value" } }, { onStderr }));
    await ask(["cat"], {}, { onStderr });

    expect(thrown.message).to.equal("The program ended with exit code 3.");
    expect(stderr).to.have.length(2);
    for (const text of stderr) {
      expect(text).to.match(/^é+key …$/);
      expect(Buffer.byteLength(text)).to.be.within(4_000, 4_096);
    }
  });

  it("reports each line of standard error while the program runs, with the values of variables masked", async () => {
    const events: TurnEvent[] = [];
    const onEvent = (event: TurnEvent) => events.push(event);
    const print = `console.error("\x1b[31mkey " + process.env.KEY + "\\n\\n" + "l".repeat(5000) + "\\n" + "h".repeat(20000) + "\\nlast")`;

    await ask(node(print), { env: { KEY: "a-secret-value" } }, { onEvent });

    expect(events).to.deep.equal([
      { type: "log", text: "key …\n" },
      { type: "log", text: `${"l".repeat(1_000)}\n` },
      { type: "log", text: "last\n" },
    ]);
  });

  it("reports the tools of a program that prints them, and keeps the end of a longer output", async () => {
    const events: TurnEvent[] = [];
    const onEvent = (event: TurnEvent) => events.push(event);
    const print = `const say = (line) => console.log(JSON.stringify(line));
      say({ type: "system", subtype: "init" });
      for (let i = 0; i < 50; i++) {
        say({ type: "assistant", message: { content: [{ type: "tool_use", id: "t" + i, name: "Read", input: {} }] } });
        say({ type: "user", message: { content: [{ type: "tool_result", tool_use_id: "t" + i, content: "x".repeat(20000) }] } });
      }
      say({ type: "result", result: "Done.", usage: { input_tokens: 1, output_tokens: 2 } });`;

    const { text } = await ask(node(print), { output: "json", maxOutputBytes: 200_000 }, { onEvent });

    expect(text).to.equal("Done.");
    expect(events.filter(({ type }) => type === "tool.started")).to.have.length(50);
    expect(events.filter(({ type }) => type === "tool.completed")).to.have.length(50);
  });

  it("passes a conversation with headings, each below a line with an id", async () => {
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

  it("returns a reply without the colours, titles and links that a program prints", async () => {
    const print =
      "process.stdout.write('\\x1b]0;agent\\x07\\x1b[32mDone\\x1b[0m\\n\\x1b]8;;https://a.bc\\x1b\\\\here\\x1b]8;;\\x1b\\\\\\n')";
    const printJson =
      "process.stdout.write('\\x1b[?25l' + JSON.stringify({ result: '\\x1b[32mDone\\x1b[0m' }) + '\\x1b[?25h')";

    expect((await ask(node(print))).text).to.equal("Done\nhere");
    expect((await ask(node(printJson), { output: "json" })).text).to.equal("Done");
  });

  // The shape that Claude Code 2.1 prints with --output-format json, and Gemini CLI 0.61 with -o json.
  const claude = {
    type: "result",
    subtype: "success",
    is_error: false,
    duration_ms: 3_211,
    num_turns: 2,
    result: "Done.",
    session_id: "0b5c7f3e-6a0e-4b8e-9a53-4a1f2f0c7a11",
    total_cost_usd: 0.0412,
    stop_reason: "end_turn",
    usage: {
      input_tokens: 9,
      cache_creation_input_tokens: 1_200,
      cache_read_input_tokens: 8_000,
      output_tokens: 310,
      server_tool_use: { web_search_requests: 0 },
      service_tier: "standard",
    },
  };
  const ofClaude = { inputTokens: 9_209, cachedInputTokens: 8_000, outputTokens: 310, costUsd: 0.0412 };
  const tokens = { prompt: 100, candidates: 20, total: 154, cached: 60, thoughts: 34, tool: 0 };
  const gemini = {
    response: "Done.",
    stats: { models: { a: { tokens }, b: { tokens: { prompt: 5, candidates: 1 } } } },
  };
  const ofGemini = { inputTokens: 105, cachedInputTokens: 60, outputTokens: 55, reasoningTokens: 34 };
  const outputs: [string, object, object[]][] = [
    ["Claude Code", claude, [ofClaude]],
    ["Claude Code with stream-json", [{ type: "assistant", message: { usage: claude.usage } }, claude], [ofClaude]],
    ["Gemini CLI", { ...gemini, result: "Done." }, [ofGemini]],
    ["a program with a cost alone", { result: "Done.", total_cost_usd: 0 }, [{ costUsd: 0 }]],
    ["a program with impossible numbers", { result: "Done.", usage: { input_tokens: 1.5 }, total_cost_usd: "1" }, []],
  ];
  for (const [what, printed, expected] of outputs) {
    it(`reports the usage that ${what} prints`, async () => {
      const seen: object[] = [];
      const source = `process.stdout.write(${JSON.stringify(JSON.stringify(printed))})`;

      const { text } = await ask(node(source), { output: "json" }, { onUsage: (usage) => seen.push(usage) });

      expect(text).to.equal("Done.");
      expect(seen).to.deep.equal(expected);
    });
  }

  // The events that Codex 0.169 prints with `codex exec --json`.
  const codex = (...events: object[]) => {
    const started = [
      { type: "thread.started", thread_id: "0199a213-81c0-7800-8aa1-bbab2a035a53" },
      { type: "turn.started" },
    ];
    const lines = [...started, ...events].map((event) => `${JSON.stringify(event)}\n`).join("");
    return node(`process.stdout.write(${JSON.stringify(`a banner\n${lines}`)})`);
  };
  const item = (type: string, text: string) => ({ type: "item.completed", item: { id: "item_0", type, text } });

  it("reads the reply and the usage in the events of Codex", async () => {
    const seen: object[] = [];
    const usage = { input_tokens: 26_549, cached_input_tokens: 22_272, output_tokens: 1_590 };
    const program = codex(
      ...[item("reasoning", "Hm."), item("agent_message", "I look."), item("agent_message", "Done.")],
      { type: "turn.completed", usage: { ...usage, reasoning_output_tokens: 1_152 } },
    );

    const { text } = await ask(program, { output: "json" }, { onUsage: (one) => seen.push(one) });

    expect(text).to.equal("Done.");
    expect(seen).to.deep.equal([
      { inputTokens: 26_549, cachedInputTokens: 22_272, outputTokens: 1_590, reasoningTokens: 1_152 },
    ]);
  });

  it("fails with a failed turn of Codex, and with one that has no message", async () => {
    const failed = codex(item("agent_message", "Done."), { type: "turn.failed", error: { message: "no access" } });
    const silent = codex({
      type: "turn.completed",
      usage: { input_tokens: 1, cached_input_tokens: 0, output_tokens: 1 },
    });

    for (const [program, message] of [
      [failed, "The program's answer reports an error."],
      [silent, "The program's answer has no text in its field result."],
    ] as const) {
      expect(await whatWasThrown(ask(program, { output: "json" }))).to.include({ message });
    }
  });

  it("reports the usage of a program that fails, and none of a reply in plain text", async () => {
    const seen: object[] = [];
    const given = { onUsage: (usage: object) => seen.push(usage) };
    const failed = `process.stdout.write(${JSON.stringify(JSON.stringify({ ...claude, is_error: true }))})`;

    const errors = [
      await whatWasThrown(ask(node(failed), { output: "json" }, given)),
      await whatWasThrown(ask(node(`${failed}; process.exitCode = 1`), { output: "json" }, given)),
    ];
    await ask(node(failed), {}, given);

    expect(errors.map(({ code }) => code)).to.deep.equal(["agent_failed", "agent_failed"]);
    expect(seen).to.deep.equal([ofClaude, ofClaude]);
  });

  it("decodes characters whose bytes arrive one by one", async () => {
    const slowly = `
      const bytes = Buffer.from("\\u20ac\\u{1f682}");
      const next = (i) => i < bytes.length && process.stdout.write(bytes.subarray(i, i + 1), () => setImmediate(next, i + 1));
      next(0);`;

    expect(await ask(node(slowly))).to.deep.equal({ text: "€🚂" });
  });

  it("returns an empty reply for a program that neither reads input nor prints output", async () => {
    expect(await ask(["true"], {}, turn("x".repeat(1_000_000)))).to.deep.equal({ text: "" });
  });

  it("starts the program in cwd", async () => {
    expect(await ask(["pwd"], { cwd: dir })).to.deep.equal({ text: dir });
  });

  describe("with arguments", () => {
    const cases: [string, string[], Partial<AgentTurn>, string[]][] = [
      ["does not interpret them as a shell does", ["$HOME", "; ls", "a b"], {}, ["$HOME", "; ls", "a b"]],
      [
        "fills in model and thinking",
        ["--model", "{model}", "--x={thinking}/{model}", "{other}"],
        { model: "m$&", thinking: "{model}" },
        ["--model", "m$&", "--x={model}/m$&", "{other}"],
      ],
      [
        "omits those without a value together with their flag",
        ["run", "--model", "{model}", "-c", "effort={thinking}", "-"],
        {},
        ["run", "-"],
      ],
      ["omits only the argument if it is itself a flag", ["--yes", "--model={model}"], {}, ["--yes"]],
      ["omits only the argument if no flag precedes it", ["run", "{model}"], { thinking: "low" }, ["run"]],
    ];
    for (const [title, args, given, expected] of cases) {
      it(title, async () => {
        expect(await askJson(node(PRINT_ARGS, "--", ...args), {}, given)).to.deep.equal(expected);
      });
    }

    it("rejects a model that would be a flag", async () => {
      const thrown = await whatWasThrown(ask(["echo", "{model}"], {}, { model: "--dangerous" }));

      expect(thrown).to.include({
        code: "agent_failed",
        message: "The model of this run cannot be used as an argument of a program.",
      });
    });
  });

  it("passes only permitted and configured variables, overridden by those of the turn", async () => {
    const settings = { passEnv: ["TZ", "ABSENT"], env: { A: "settings", B: "settings" } };

    const env = await askJson(node(PRINT_ENV), settings, { env: { B: "turn", SIGNALBOX_JOB_ID: "job-1" } });
    delete env.NODE_V8_COVERAGE; // Node itself passes it on while coverage is measured

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
      [`[{"type":"system"},{"type":"assistant","error":"x"},{"type":"result","result":"Done."}]\n`, {}],
      [`[{"type":"result","result":"no"},{"type":"result","result":"Done."},{"type":"end"}]`, {}],
      [`[{"response":"Done."},{"cost":1}]`, { replyField: "response" }],
      [`{"type":"system"}\n{"type":"result","result":"Done."}\n`, {}],
      [`Update available: run x\n{"type":"result","result":"Done."}\n`, {}],
      [`[WARN] old version\n{\n  "result": "Done."\n}\n`, {}],
      [`{"result":"Done."}\nTook 3 s.\n`, {}],
      [`\ufeff{"result":"Done."}`, {}],
    ];
    for (const [printed, settings] of replies) {
      it(`returns the reply in ${printed}`, async () => {
        expect(await ask(print(printed), { output: "json", ...settings })).to.deep.equal({ text: "Done." });
      });
    }
    it("marks a reply that a Claude command line cut off at the limit of its model", async () => {
      const printed = `{"type":"result","result":"Done","stop_reason":"max_tokens"}`;

      expect(await ask(print(printed), { output: "json" })).to.deep.equal({ text: "Done", isCutOff: true });
    });

    it("reads 800,000 lines that are no JSON in linear time", async () => {
      const thrown = await whatWasThrown(
        ask(node("process.stdout.write('[1,]\\n'.repeat(800_000))"), { output: "json" }),
      );

      expect(thrown.message).to.match(/contains no JSON object/);
    });

    const failures: [string, RegExp][] = [
      [`{"is_error":true,"result":"${PROMPT}"}`, /reports an error/],
      [`{"error":{"message":"${PROMPT}"},"result":"x"}`, /reports an error/],
      [`{"response":"${PROMPT}"}`, /no text in its field result/],
      [`{"result":null}`, /no text in its field result/],
      [`[{"type":"assistant","result":"x"},{"type":"result","is_error":true}]`, /reports an error/],
      ['[{"type":"result","result":"x"},{"type":"result"}]', /no text in its field result/],
      [`Warning: ${PROMPT}`, /contains no JSON object/],
      ["null", /contains no JSON object/],
      ['["done"]', /contains no JSON object/],
      ["{}}", /contains no JSON object/],
      ["", /contains no JSON object/],
    ];
    for (const [printed, message] of failures) {
      it(`rejects with agent_failed for ${printed || "no output"}`, async () => {
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
      "a signal from another process",
      node("process.kill(process.pid, 'SIGKILL')"),
      {},
      { code: "agent_unavailable", message: /ended by SIGKILL\.$/ },
    ],
    ["a missing program", ["signalbox-no-such-program", PROMPT], {}, { code: "agent_failed", message: /\(ENOENT\)/ }],
    ["a missing cwd", ["true"], { cwd: "/no/such/folder" }, { code: "agent_failed", message: /\(ENOENT\)/ }],
    ["a file that is not executable", ["/dev/null"], {}, { code: "agent_failed", message: /\(EACCES\)/ }],
    ["an argument with a NUL", ["true", "a\0b"], {}, { code: "agent_failed", message: /\(ERR_INVALID_ARG_VALUE\)/ }],
    ["too many arguments", ["true", "x".repeat(3_000_000)], {}, { code: "agent_failed", message: /\(E2BIG\)/ }],
    [
      "too much output",
      ["yes", PROMPT],
      { maxOutputBytes: 100_000 },
      { code: "agent_failed", message: /printed more than/ },
    ],
  ];
  for (const [title, command, settings, expected] of failures) {
    it(`rejects with ${expected.code} for ${title} and quotes nothing`, async () => {
      const thrown = await whatWasThrown(ask(command, settings));

      expect(thrown).to.include({ code: expected.code, cause: undefined });
      expect(thrown.message).to.match(expected.message);
      expect(thrown.stack).to.not.include(PROMPT);
    });
  }

  const stops: [string, Error, string][] = [
    ["timeout if the time limit is reached", new DOMException("late", "TimeoutError"), "timeout"],
    ["the signal's reason if that is an AppError", new AppError("cancelled"), "cancelled"],
  ];
  for (const [title, reason, code] of stops) {
    it(`rejects with ${title}`, async () => {
      const stop = new AbortController();
      const running = whatWasThrown(
        ask(node("require('fs').writeFileSync('up', ''); setInterval(() => {}, 1000)"), { cwd: dir }, {}, stop.signal),
      );
      await eventually(() => existsSync(join(dir, "up")), "the program to be up");

      stop.abort(reason);

      expect((await running).code).to.equal(code);
    });

    it(`starts nothing if the signal was aborted before, and rejects with ${title}`, async () => {
      const thrown = await whatWasThrown(ask(["touch", "started"], { cwd: dir }, {}, AbortSignal.abort(reason)));

      expect(thrown.code).to.equal(code);
      expect(existsSync(join(dir, "started"))).to.equal(false);
    });
  }

  it("accepts output of exactly maxOutputBytes", async () => {
    expect(await ask(["printf", "12345"], { maxOutputBytes: 5 })).to.deep.equal({ text: "12345" });
  });

  it("throws if no program is configured", () => {
    expect(() => createRunner("command", {}, {})).to.throw(AppError, "agents.runners.command.command");
    expect(() => createRunner("command", { command: { command: [] } }, {})).to.throw(AppError, "agents.runners");
  });
});
