import { expect } from "chai";
import { createRunner } from "../../../src/agents/runners/createRunner.ts";
import { eventually } from "../../support/eventually.ts";
import {
  answers,
  type Behaviour,
  delta,
  type ModelServer,
  pours,
  startModelServer,
  streams,
} from "../../support/servers/modelServer.ts";
import { freePort } from "../../support/servers/servers.ts";
import { turn, whatWasThrown } from "./turn.ts";

const KEY = "sk-secret-key";
const PROMPT = "the secret prompt";

describe("The openai runner without a reply", () => {
  let server: ModelServer;
  before(async () => {
    server = await startModelServer();
  });
  after(() => server.close());
  const ask = (baseUrl = server.url) =>
    createRunner("openai", { openai: { baseUrl, apiKey: KEY } }, {}).run(
      turn(PROMPT, { model: "m" }),
      AbortSignal.timeout(60_000),
    );
  const error = {
    message: `You said: ${PROMPT}. Your key: ${KEY}`,
    type: "some_error",
    code: "some_code",
    param: null,
  };
  type Failure = [string, Behaviour, { code: string; message: RegExp; retryAfterSeconds?: number }];
  /** The form in which OpenRouter reports that a provider failed in the middle of its answer. */
  const brokenOff =
    (code: string) =>
    (errorCode: unknown): Failure => [
      `a stream that broke off with ${errorCode}`,
      streams([
        delta({ content: "half" }),
        { choices: [{ delta: {}, finish_reason: "error", error: { code: errorCode, message: PROMPT } }] },
      ]),
      { code, message: errorCode ? new RegExp(`200 with an error \\(${errorCode}\\)`) : /200 with an error\.$/ },
    ];
  const failures: Failure[] = [
    [
      "429, with how long to wait",
      answers(429, { error }, { "Retry-After": "7" }),
      { code: "agent_unavailable", message: /answered 429 \(some_code, some_error\)\.$/, retryAfterSeconds: 7 },
    ],
    [
      "429 with the milliseconds to wait",
      answers(429, { error }, { "retry-after-ms": "1500", "Retry-After": "2" }),
      { code: "agent_unavailable", message: /429/, retryAfterSeconds: 1.5 },
    ],
    [
      "429 for lack of credit",
      answers(429, { error: { code: "insufficient_quota" } }),
      { code: "agent_failed", message: /429/ },
    ],
    ["500", answers(500, { error }), { code: "agent_unavailable", message: /500/ }],
    [
      "503 with Retry-After",
      answers(503, "busy", { "Retry-After": "30" }),
      { code: "agent_unavailable", message: /answered 503\.$/, retryAfterSeconds: 30 },
    ],
    [
      "500 that never ends",
      pours(500, "text/html", PROMPT.repeat(5_000)),
      { code: "agent_unavailable", message: /500/ },
    ],
    ["400 that never ends", pours(400, "text/html", PROMPT.repeat(5_000)), { code: "agent_failed", message: /400/ }],
    [
      "429 that hangs in the middle",
      (response) => {
        response.writeHead(429, { "Content-Length": "100", "Retry-After": "9" }).write(`{"error":"${PROMPT}`);
      },
      { code: "agent_unavailable", message: /answered 429\.$/, retryAfterSeconds: 9 },
    ],
    [
      "500 that is lost in the middle",
      (response) => {
        response.writeHead(500, { "Content-Length": "100" }).write(`{"error":"${PROMPT}`, () => response.destroy());
      },
      { code: "agent_unavailable", message: /answered 500\.$/ },
    ],
    ["205", (response) => response.writeHead(205).end(), { code: "agent_failed", message: /empty/ }],
    [
      "thoughts alone",
      streams([delta({ content: "<think>plan</think>\n" }, "stop")]),
      { code: "agent_failed", message: /has no text\.$/ },
    ],
    [
      "thoughts at which the limit of tokens was reached",
      streams([delta({ content: "<think>plan" }, "length")]),
      { code: "agent_failed", message: /has no text: its limit/ },
    ],
    ["an invalid status", answers(999, {}), { code: "agent_failed", message: /answered 999\.$/ }],
    ["408", answers(408, {}), { code: "agent_unavailable", message: /408/ }],
    [
      "400",
      answers(400, { error: { ...error, code: error.message } }),
      { code: "agent_failed", message: /400 \(some_error\)\.$/ },
    ],
    ["401", answers(401, { error }), { code: "agent_failed", message: /401/ }],
    ["402", answers(402, { error: { code: 402, message: PROMPT } }), { code: "agent_failed", message: /402 \(402\)/ }],
    ["404", answers(404, { error }), { code: "agent_failed", message: /404/ }],
    ["a redirect", answers(308, {}, { Location: "/elsewhere" }), { code: "agent_failed", message: /308/ }],
    [
      "200 without choices",
      answers(200, { choices: [] }),
      { code: "agent_failed", message: /does agents\.runners\.openai\.baseUrl end in/ },
    ],
    [
      "200 with null",
      answers(200, null),
      { code: "agent_failed", message: /does agents\.runners\.openai\.baseUrl end in/ },
    ],
    [
      "200 with an error",
      answers(200, { error }),
      { code: "agent_failed", message: /200 with an error \(some_code, some_error\)/ },
    ],
    [
      "200 with a transient error",
      answers(200, { error: { code: 503, message: PROMPT } }),
      { code: "agent_unavailable", message: /503/ },
    ],
    [
      "200 without a text",
      answers(200, { choices: [{ message: { content: null }, finish_reason: "length" }] }),
      { code: "agent_failed", message: /has no text: its limit of tokens/ },
    ],
    [
      "a refusal",
      answers(200, { choices: [{ message: { content: null, refusal: PROMPT }, finish_reason: "stop" }] }),
      { code: "agent_failed", message: /refused/ },
    ],
    [
      "a refusal in a stream",
      streams([delta({ refusal: PROMPT }), delta({}, "stop")]),
      { code: "agent_failed", message: /refused/ },
    ],
    ["a content filter", streams([delta({}, "content_filter")]), { code: "agent_failed", message: /content filter/ }],
    [
      "a stream without choices",
      streams([{ choices: [] }]),
      { code: "agent_failed", message: /does agents\.runners\.openai\.baseUrl end in/ },
    ],
    [
      "a stream without a text",
      streams([delta({ content: "" }, "stop")]),
      { code: "agent_failed", message: /has no text/ },
    ],
    [
      "an error in the middle of a stream",
      streams([delta({ content: "a" }), { error }]),
      { code: "agent_failed", message: /200 with an error/ },
    ],
    [
      "a transient error in the middle of a stream",
      streams([delta({ content: "a" }), { error: { type: "server_error", message: PROMPT } }]),
      { code: "agent_unavailable", message: /server_error/ },
    ],
    ...[429, "429", 502, 7, "server_error", "provider_gone", undefined].map(brokenOff("agent_unavailable")),
    ...[400, "403", "insufficient_quota"].map(brokenOff("agent_failed")),
    [
      "a stream that broke off, with the error beside its choices",
      streams([delta({ content: "half" }), { error: { code: "provider_gone" }, ...delta({}, "error") }]),
      { code: "agent_unavailable", message: /200 with an error \(provider_gone\)/ },
    ],
    [
      "a stream that broke off without an error",
      streams([delta({ content: "half" }), delta({}, "error")]),
      { code: "agent_unavailable", message: /200 with an error\.$/ },
    ],
    [
      "an answer that broke off",
      answers(200, {
        choices: [{ message: { content: "half" }, finish_reason: "error", error: { code: 503, message: PROMPT } }],
      }),
      { code: "agent_unavailable", message: /200 with an error \(503\)/ },
    ],
    [
      "a line of a stream that never ends",
      pours(200, "text/event-stream", `data: ${PROMPT.repeat(5_000)}`),
      { code: "agent_failed", message: /too long/ },
    ],
    [
      "an event that never ends",
      pours(200, "text/event-stream", `data: ${PROMPT.repeat(5_000)}\n`),
      { code: "agent_failed", message: /too long/ },
    ],
    [
      "an error that is only a text",
      streams([{ error: PROMPT }]),
      { code: "agent_failed", message: /200 with an error\.$/ },
    ],
    [
      "a connection lost in the middle of a stream",
      streams([delta({ content: "half" })], { cut: true }),
      { code: "agent_unavailable", message: /lost in the middle/ },
    ],
    [
      "a stream that just ends",
      streams([delta({ content: "half" })], { done: false }),
      { code: "agent_unavailable", message: /lost in the middle/ },
    ],
    [
      "a connection lost before an answer",
      (response) => response.destroy(),
      { code: "agent_unavailable", message: /cannot be reached \(UND_ERR_SOCKET\)/ },
    ],
    [
      "an HTML page",
      (response) => response.writeHead(200, { "Content-Type": "text/html" }).end(`<p>${PROMPT}</p>`),
      { code: "agent_failed", message: /does agents\.runners\.openai\.baseUrl end in/ },
    ],
    [
      "invalid JSON",
      (response) => response.writeHead(200, { "Content-Type": "application/json" }).end(`{"${PROMPT}`),
      { code: "agent_failed", message: /not JSON/ },
    ],
    ["204", (response) => response.writeHead(204).end(), { code: "agent_failed", message: /empty/ }],
  ];
  for (const [title, behaviour, expected] of failures) {
    it(`rejects with ${expected.code} for ${title} and quotes nothing`, async () => {
      server.script(behaviour);

      const thrown = await whatWasThrown(ask());

      expect(thrown).to.include({
        code: expected.code,
        retryAfterSeconds: expected.retryAfterSeconds,
        cause: undefined,
      });
      expect(thrown.message).to.match(expected.message);
      expect(`${thrown.stack} ${JSON.stringify(thrown)}`)
        .to.not.include(PROMPT)
        .and.not.include(KEY);
    });
  }

  it("passes on the server's own sentence apart from the message, cut and with keys masked", async () => {
    const long = "x ".repeat(400);
    server.script(
      answers(500, { error: { message: "CUDA out of memory\n on GPU 0" } }),
      answers(401, { error: { message: `Incorrect API key provided: ${KEY}, or sk-abc***wxyz.` } }),
      answers(500, { error: `failed: ${long}` }),
      streams([delta({ content: "a" }), { error: { message: "overloaded", type: "server_error" } }]),
    );

    const thrown = [];
    for (let i = 0; i < 4; i++) thrown.push(await whatWasThrown(ask()));

    expect(thrown.map(({ quote }) => quote)).to.deep.equal([
      "CUDA out of memory on GPU 0",
      "Incorrect API key provided: …, or …",
      `failed: ${long}`.slice(0, 300),
      "overloaded",
    ]);
  });

  it("names the tool that the model asked for instead of answering", async () => {
    const calls = [{ index: 0, id: "1", type: "function", function: { name: "get_weather", arguments: "{}" } }];
    server.script(
      answers(200, { choices: [{ message: { content: null, tool_calls: calls }, finish_reason: "tool_calls" }] }),
      streams([delta({ tool_calls: calls }), delta({}, "tool_calls")]),
    );

    const thrown = [await whatWasThrown(ask()), await whatWasThrown(ask())];

    const message = "The model asked for the tool get_weather; the openai runner offers no tools.";
    expect(thrown.map((error) => error.message)).to.deep.equal([message, message]);
  });

  it("closes the connection of an error that never ends", async () => {
    server.requests.length = 0;
    server.script(pours(500, "text/html", PROMPT.repeat(5_000)));

    await whatWasThrown(ask());

    await eventually(() => server.requests[0]?.cancelled, "the connection to be closed");
  });

  it("logs nothing of an answer that cannot be parsed", async () => {
    server.script((response) => {
      response.writeHead(200, { "Content-Type": "text/event-stream" }).end(`data: {"${PROMPT}\n\n`);
    });
    const { write } = process.stderr;
    const logged: unknown[] = [];
    process.stderr.write = (text) => logged.push(text) > 0;

    const thrown = await whatWasThrown(ask()).finally(() => {
      process.stderr.write = write;
    });

    expect(thrown).to.include({ code: "agent_failed", message: "The model server's answer is not JSON." });
    expect(logged).to.deep.equal([]);
  });

  it("sends one request for each turn and does not retry", async () => {
    server.script(answers(500, {}), answers(500, {}));

    const first = await whatWasThrown(ask());
    const second = await whatWasThrown(ask());
    const third = await ask();

    expect([first.code, second.code, third.text]).to.deep.equal([
      "agent_unavailable",
      "agent_unavailable",
      "Hello from the model.",
    ]);
  });

  it("accepts a date in Retry-After", async () => {
    server.script(answers(429, {}, { "Retry-After": new Date(Date.now() + 60_000).toUTCString() }));

    const { retryAfterSeconds } = await whatWasThrown(ask());

    expect(retryAfterSeconds).to.be.within(50, 60);
  });

  it("rejects with agent_unavailable if there is no server", async () => {
    const thrown = await whatWasThrown(ask(`http://127.0.0.1:${await freePort()}/v1`));

    expect(thrown).to.include({
      code: "agent_unavailable",
      message: "The model server cannot be reached (ECONNREFUSED).",
    });
  });
});
