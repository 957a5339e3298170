import { expect } from "chai";
import { createRunner } from "../../../src/agents/runners/createRunner.ts";
import type { AgentTurn, TurnEvent } from "../../../src/agents/runners/runner.ts";
import { AppError } from "../../../src/shared/errors.ts";
import { eventually } from "../../support/eventually.ts";
import {
  answers,
  type Behaviour,
  delta,
  hangs,
  type ModelServer,
  says,
  saysPlain,
  startModelServer,
  streams,
  usageChunk,
} from "../../support/servers/modelServer.ts";
import { turn, whatWasThrown } from "./turn.ts";

const KEY = "sk-secret-key";
const PROMPT = "the secret prompt";
const WHOLE = [delta({ content: "Whole." }), delta({}, "stop")];

describe("The openai runner", () => {
  let server: ModelServer;
  before(async () => {
    server = await startModelServer();
  });
  after(() => server.close());
  beforeEach(() => {
    server.requests.length = 0;
    server.script();
  });
  const ask = (given: Partial<AgentTurn> = {}, signal = new AbortController().signal, settings: object = {}) =>
    createRunner("openai", { openai: { baseUrl: server.url, apiKey: KEY, ...settings } }, {}).run(
      turn(PROMPT, { model: "m", ...given }),
      signal,
    );

  it("sends only the model and the messages, and asks for usage", async () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi." },
    ] as const;

    const { text } = await ask({ messages });

    expect(text).to.equal("Hello from the model.");
    const [request] = server.requests;
    expect(request?.path).to.equal("/v1/chat/completions");
    expect(request?.headers.authorization).to.equal(`Bearer ${KEY}`);
    expect(request?.body).to.deep.equal({
      model: "m",
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  it("reports the pieces of a stream as they come, without the thoughts before the reply", async () => {
    const shown = async (...pieces: string[]) => {
      server.script(streams([...pieces.map((content) => delta({ content })), delta({}, "stop")]));
      const events: TurnEvent[] = [];
      await ask({ onEvent: (event) => events.push(event) }).catch(() => {});
      return events.map((event) => (event.type === "message.delta" ? event.delta : event.type));
    };

    expect(await shown("Hello ", "", "<think>")).to.deep.equal(["Hello ", "<think>"]);
    expect(await shown("<thi", "nk>a</th", "ought></think>", "\n\n", "Hello ", "you")).to.deep.equal(["Hello ", "you"]);
    expect(await shown("<think>a</think><reasoning>b</reasoning>c", "d")).to.deep.equal(["c", "d"]);
    expect(await shown(" <", "b>bold</b>")).to.deep.equal(["<b>bold</b>"]);
    expect(await shown("<think>", "never ends")).to.deep.equal([]);
  });

  it("reports no pieces of an answer that is one JSON object", async () => {
    server.script(saysPlain("All at once."));
    const events: TurnEvent[] = [];

    const { text } = await ask({ onEvent: (event) => events.push(event) });

    expect([text, events]).to.deep.equal(["All at once.", []]);
  });

  it("sends thinking as reasoning_effort and the configured headers, without needing a key", async () => {
    await ask({ thinking: "high" }, undefined, { apiKey: undefined, headers: { "X-Title": "Signalbox" } });

    const [request] = server.requests;
    expect(request?.body.reasoning_effort).to.equal("high");
    expect(request?.headers["x-title"]).to.equal("Signalbox");
    expect(request?.headers.authorization).to.be.a("string");
  });

  const used = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 };
  const details = {
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 5 },
  };
  const counted = { inputTokens: 12, cachedInputTokens: 4, outputTokens: 7, reasoningTokens: 5 };
  const usages: [string, Behaviour, object[]][] = [
    ["the last chunk", streams([...WHOLE, usageChunk({ ...used, ...details })]), [counted]],
    ["a plain answer", saysPlain("Whole.", { ...used, ...details }), [counted]],
    ["an answer without details", streams([...WHOLE, usageChunk(used)]), [{ inputTokens: 12, outputTokens: 7 }]],
    [
      "chunks that count so far",
      streams([
        { ...delta({ content: "Whole." }, "stop"), usage: { prompt_tokens: 12, completion_tokens: 1 } },
        usageChunk(used),
      ]),
      [{ inputTokens: 12, outputTokens: 7 }],
    ],
    [
      "an answer with impossible numbers",
      streams([...WHOLE, usageChunk({ prompt_tokens: -1, completion_tokens: "7" })]),
      [],
    ],
    ["an answer without it", streams([...WHOLE, usageChunk(null)]), []],
  ];
  for (const [what, behaviour, expected] of usages) {
    it(`reports the usage of ${what}`, async () => {
      server.script(behaviour);
      const seen: object[] = [];

      const { text } = await ask({ onUsage: (usage) => seen.push(usage) });

      expect(text).to.equal("Whole.");
      expect(seen).to.deep.equal(expected);
    });
  }

  it("reports the usage of an answer that has no text", async () => {
    server.script(streams([delta({}, "length"), usageChunk({ ...used, ...details })]));
    const seen: object[] = [];

    const error = await whatWasThrown(ask({ onUsage: (usage) => seen.push(usage) }));

    expect(error.code).to.equal("agent_failed");
    expect(seen).to.deep.equal([counted]);
  });

  const field = "Unknown field: stream_options";
  const refusals: [string, Behaviour][] = [
    ["a message", answers(400, { error: { message: field, type: "invalid_request_error", param: null, code: null } })],
    ["param", answers(400, { error: { message: "Not supported.", param: "stream_options" } })],
    ["a code", answers(400, { error: { message: "Not supported.", code: "unknown_parameter" } })],
    ["422", answers(422, { detail: [{ type: "extra_forbidden", loc: ["body", "stream_options"] }] })],
  ];
  for (const [how, refuses] of refusals) {
    it(`asks again without stream_options if the server refuses it by ${how}, and remembers that`, async () => {
      server.script(refuses, says("First."), says("Second."), says("Third."));
      const runner = createRunner("openai", { openai: { baseUrl: server.url } }, {});
      const signal = new AbortController().signal;

      const texts = [];
      for (const model of ["m", "m", "another"]) texts.push((await runner.run(turn(PROMPT, { model }), signal)).text);

      expect(texts).to.deep.equal(["First.", "Second.", "Third."]);
      expect(server.requests.map(({ body }) => "stream_options" in body)).to.deep.equal([true, false, false, true]);
    });
  }

  it("does not ask again after a 400 for another reason, and remembers nothing while the server refuses both", async () => {
    server.script(
      answers(400, { error: { message: "The context is too long.", code: "context_length_exceeded" } }),
      answers(400, { error: { message: field } }),
      answers(400, { error: { message: field } }),
    );
    const runner = createRunner("openai", { openai: { baseUrl: server.url } }, {});
    const run = () => runner.run(turn(PROMPT, { model: "m" }), new AbortController().signal);

    const codes = [(await whatWasThrown(run())).code, (await whatWasThrown(run())).code];
    await run();

    expect(codes).to.deep.equal(["agent_failed", "agent_failed"]);
    expect(server.requests.map(({ body }) => "stream_options" in body)).to.deep.equal([true, true, false, true]);
  });

  it("removes slashes at the end of baseUrl", async () => {
    await ask({}, undefined, { baseUrl: `${server.url}//` });

    expect(server.requests[0]?.path).to.equal("/v1/chat/completions");
  });

  const cutOff: [string, Behaviour, string][] = [
    ["stream", streams([delta({ content: "Cut sho" }, "length")]), "Cut sho"],
    [
      "plain answer",
      answers(200, { choices: [{ message: { content: "Cut sho" }, finish_reason: "length" }] }),
      "Cut sho",
    ],
  ];
  for (const [what, behaviour, text] of cutOff) {
    it(`marks a ${what} that the model cut off at its length limit`, async () => {
      server.script(behaviour);

      expect(await ask()).to.deep.equal({ text, isCutOff: true });
    });
  }

  const replies: [string, Behaviour, string][] = [
    ["a slow stream", says("One word after another, ünd späte.", { gapMs: 5 }), "One word after another, ünd späte."],
    ["a plain answer to a request for a stream", saysPlain("Plain."), "Plain."],
    [
      "a stream of parts among texts",
      streams([
        delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "plan" }] }] }),
        delta({
          content: [
            { type: "text", text: "Hi " },
            { type: "reference", reference_ids: [1] },
          ],
        }),
        delta({ content: "there" }, "stop"),
      ]),
      "Hi there",
    ],
    [
      "a plain answer of parts",
      answers(200, { choices: [{ message: { content: [{ type: "text", text: "Hi " }, "there"] } }] }),
      "Hi there",
    ],
    ["an answer after thoughts", says("<think>plan</think>\n\nHello"), "Hello"],
    ["an answer after thoughts of two kinds", says("\n<Thinking>a\nb</Thinking> <think></think>Hello"), "Hello"],
    [
      "a tag of thoughts in code",
      says("`<think>` begins it: <think>x</think>"),
      "`<think>` begins it: <think>x</think>",
    ],
    ["a tag of thoughts that does not end", says("<think> is a tag."), "<think> is a tag."],
    [
      "the first choice among chunks without choices",
      streams([
        { choices: [], prompt_filter_results: [] },
        { choices: [{ index: 1, delta: { content: "other" }, finish_reason: null }] },
        delta({ role: "assistant", content: null }),
        delta({ content: "first" }),
        delta({}, "stop"),
        { choices: [], usage: { total_tokens: 3 } },
      ]),
      "first",
    ],
    ["a stream whose connection stays open after [DONE]", streams(WHOLE, { open: true, done: true }), "Whole."],
    ["a stream whose connection is lost after [DONE]", streams(WHOLE, { cut: true, done: true }), "Whole."],
    [
      "a stream whose connection stays open after [DONE] without an empty line",
      (response) => {
        response.setHeader("Content-Type", "text/event-stream");
        response.write(`\ufeffdata: ${JSON.stringify(WHOLE[0])}\r\n\r\ndata:\n\ndata: [DONE]\n`);
      },
      "Whole.",
    ],
    ["a stream with [DONE] and no finish_reason", streams(WHOLE.slice(0, 1)), "Whole."],
    ["a stream that stays open after its finish_reason", streams(WHOLE, { open: true }), "Whole."],
    ["a stream that is lost after its finish_reason", streams(WHOLE, { cut: true }), "Whole."],
    [
      "a stream that is lost in its usage",
      (response) => {
        const [text, stop] = WHOLE.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`);
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        response.write(`${text}${stop}data: {"choices":[],"usa`, () => response.destroy());
      },
      "Whole.",
    ],
    [
      "a stream with a finish_reason in each chunk",
      streams([delta({ content: "Whole" }, ""), delta({ content: "." }, "stop"), delta({ content: "." }, "stop")]),
      "Whole..",
    ],
  ];
  for (const [title, behaviour, expected] of replies) {
    it(`accepts ${title}`, async () => {
      server.script(behaviour);

      expect(await ask({}, AbortSignal.timeout(60_000))).to.deep.equal({ text: expected });
    });
  }

  it("reads the lines of a stream with any line break and split at any byte", async () => {
    const chunk = JSON.stringify(delta({ content: "ünd 😀" }, "stop"));
    for (const end of ["\n", "\r\n", "\r"]) {
      const [first, rest] = [chunk.slice(0, chunk.indexOf(",") + 1), chunk.slice(chunk.indexOf(",") + 1)];
      const lines = [": ping", "event: message", `data: ${first}`, `data:${rest}`, "", "id: 2", "", "data: [DONE]", ""];
      server.script(async (response) => {
        response.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
        for (const byte of Buffer.from(lines.map((line) => line + end).join(""))) {
          await new Promise((written) => response.write(Buffer.of(byte), written));
        }
        response.end();
      });

      expect(await ask()).to.deep.equal({ text: "ünd 😀" });
    }
  });

  it("rejects with agent_failed for a turn without a model, and sends no request", async () => {
    const thrown = await whatWasThrown(ask({ model: undefined }));

    expect(thrown).to.include({ code: "agent_failed", message: "No model is configured: set agents.defaults.model." });
    expect(server.requests).to.deep.equal([]);
  });

  it("rejects with agent_failed for unusable settings", async () => {
    const thrown = await whatWasThrown(ask({}, undefined, { headers: { "X-Bad": `${KEY}\nbad` } }));

    expect(thrown.code).to.equal("agent_failed");
    expect(thrown.stack).to.not.include(KEY);
    expect(() => createRunner("openai", { openai: { baseUrl: "localhost:11434" } }, {})).to.throw(AppError, "baseUrl");
  });

  const hanging: [string, Behaviour][] = [
    ["before the answer", hangs()],
    ["in the middle of the answer", hangs("Well,")],
  ];
  for (const [where, behaviour] of hanging) {
    it(`cancels the request of a turn whose time limit is reached ${where}`, async () => {
      server.script(behaviour);

      const thrown = await whatWasThrown(ask({}, AbortSignal.timeout(100)));

      expect(thrown).to.include({ code: "timeout" });
      await eventually(() => server.requests[0]?.cancelled, "the request to be cancelled");
    });

    it(`cancels the request of a turn that is aborted ${where}, and rejects with the reason`, async () => {
      server.script(behaviour);
      const stop = new AbortController();
      const reason = new AppError("unavailable", { detail: "The worker is stopping." });

      const running = whatWasThrown(ask({}, stop.signal));
      await eventually(() => server.requests.length === 1, "the request");
      stop.abort(reason);

      expect(await running).to.equal(reason);
      await eventually(() => server.requests[0]?.cancelled, "the request to be cancelled");
    });
  }

  it("sends no request if the signal was aborted before", async () => {
    const thrown = await whatWasThrown(ask({}, AbortSignal.abort(new AppError("cancelled"))));

    expect(thrown.code).to.equal("cancelled");
    expect(server.requests).to.deep.equal([]);
  });
});
