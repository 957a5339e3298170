import { expect } from "chai";
import { type AgentTurn, createRunner } from "../../../src/agents/runner.ts";
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
} from "../../support/modelServer.ts";
import { freePort } from "../../support/servers.ts";
import { turn, whatWasThrown } from "./turn.ts";

const KEY = "sk-secret-key";
const PROMPT = "the secret prompt";

describe("the openai runner", () => {
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

  it("sends the model, the messages and nothing more", async () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi." },
    ] as const;

    const { text } = await ask({ messages });

    expect(text).to.equal("Hello from the model.");
    const [request] = server.requests;
    expect(request?.path).to.equal("/v1/chat/completions");
    expect(request?.headers.authorization).to.equal(`Bearer ${KEY}`);
    expect(request?.body).to.deep.equal({ model: "m", messages, stream: true });
  });

  it("sends thinking as reasoning_effort, and the headers of the settings; needs no key", async () => {
    await ask({ thinking: "high" }, undefined, { apiKey: undefined, headers: { "X-Title": "Signalbox" } });

    const [request] = server.requests;
    expect(request?.body.reasoning_effort).to.equal("high");
    expect(request?.headers["x-title"]).to.equal("Signalbox");
    expect(request?.headers.authorization).to.be.a("string");
  });

  const replies: [string, Behaviour, string][] = [
    ["a slow stream", says("One word after another, ünd späte.", { gapMs: 5 }), "One word after another, ünd späte."],
    ["a plain answer to a request for a stream", saysPlain("Plain."), "Plain."],
    ["an answer that was too long for the model", streams([delta({ content: "Cut sho" }, "length")]), "Cut sho"],
    [
      "the first choice, and chunks without any",
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
  ];
  for (const [title, behaviour, expected] of replies) {
    it(`takes ${title}`, async () => {
      server.script(behaviour);

      expect(await ask()).to.deep.equal({ text: expected });
    });
  }

  const error = {
    message: `You said: ${PROMPT}. Your key: ${KEY}`,
    type: "some_error",
    code: "some_code",
    param: null,
  };
  const failures: [string, Behaviour, { code: string; message: RegExp; retryAfterSeconds?: number }][] = [
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
      "429 for want of credit",
      answers(429, { error: { code: "insufficient_quota" } }),
      { code: "agent_failed", message: /429/ },
    ],
    ["500", answers(500, { error }), { code: "agent_unavailable", message: /500/ }],
    [
      "503 with Retry-After",
      answers(503, "busy", { "Retry-After": "30" }),
      { code: "agent_unavailable", message: /answered 503\.$/, retryAfterSeconds: 30 },
    ],
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
    ["200 without choices", answers(200, { choices: [] }), { code: "agent_failed", message: /no choices/ }],
    ["200 with null", answers(200, null), { code: "agent_failed", message: /no choices/ }],
    [
      "200 with an error",
      answers(200, { error }),
      { code: "agent_failed", message: /200 with an error \(some_code, some_error\)/ },
    ],
    [
      "200 with a passing error",
      answers(200, { error: { code: 503, message: PROMPT } }),
      { code: "agent_unavailable", message: /503/ },
    ],
    [
      "200 without a text",
      answers(200, { choices: [{ message: { content: null }, finish_reason: "length" }] }),
      { code: "agent_failed", message: /without a text: its limit of tokens/ },
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
    ["a stream without choices", streams([{ choices: [] }]), { code: "agent_failed", message: /no choices/ }],
    [
      "a stream without a text",
      streams([delta({ content: "" }, "stop")]),
      { code: "agent_failed", message: /without a text/ },
    ],
    [
      "an error in the middle of a stream",
      streams([delta({ content: "a" }), { error }]),
      { code: "agent_failed", message: /200 with an error/ },
    ],
    [
      "a passing error in the middle of a stream",
      streams([delta({ content: "a" }), { error: { type: "server_error", message: PROMPT } }]),
      { code: "agent_unavailable", message: /server_error/ },
    ],
    [
      "an error that is only words",
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
      streams([delta({ content: "half" })]),
      { code: "agent_unavailable", message: /lost in the middle/ },
    ],
    [
      "a connection lost before an answer",
      (response) => response.destroy(),
      { code: "agent_unavailable", message: /cannot be reached \(ECONNRESET\)/ },
    ],
    [
      "a page that is no answer",
      (response) => response.writeHead(200, { "Content-Type": "text/html" }).end(`<p>${PROMPT}</p>`),
      { code: "agent_failed", message: /no choices/ },
    ],
    [
      "JSON that is none",
      (response) => response.writeHead(200, { "Content-Type": "application/json" }).end(`{"${PROMPT}`),
      { code: "agent_failed", message: /not JSON/ },
    ],
    ["204", (response) => response.writeHead(204).end(), { code: "agent_failed", message: /empty/ }],
  ];
  for (const [title, behaviour, expected] of failures) {
    it(`makes ${expected.code} of ${title}, and quotes nothing`, async () => {
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

  it("tries once for each turn: 500, 500, then well", async () => {
    server.script(answers(500, {}), answers(500, {}));

    const first = await whatWasThrown(ask());
    const second = await whatWasThrown(ask());
    const third = await ask();

    expect([first.code, second.code, third.text]).to.deep.equal([
      "agent_unavailable",
      "agent_unavailable",
      "Hello from the model.",
    ]);
    expect(server.requests).to.have.length(3);
  });

  it("understands a Retry-After that is a date", async () => {
    server.script(answers(429, {}, { "Retry-After": new Date(Date.now() + 60_000).toUTCString() }));

    const { retryAfterSeconds } = await whatWasThrown(ask());

    expect(retryAfterSeconds).to.be.within(50, 60);
  });

  it("makes agent_unavailable of a server that is not there", async () => {
    const thrown = await whatWasThrown(ask({}, undefined, { baseUrl: `http://127.0.0.1:${await freePort()}/v1` }));

    expect(thrown).to.include({
      code: "agent_unavailable",
      message: "The model server cannot be reached (ECONNREFUSED).",
    });
  });

  it("makes agent_failed of a turn without a model, and asks nobody", async () => {
    const thrown = await whatWasThrown(ask({ model: undefined }));

    expect(thrown).to.include({ code: "agent_failed", message: "No model is set: give one in agents.defaults.model." });
    expect(server.requests).to.deep.equal([]);
  });

  it("makes agent_failed of settings that cannot be used", async () => {
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
    it(`cancels the request of a turn whose time is up ${where}`, async () => {
      server.script(behaviour);

      const thrown = await whatWasThrown(ask({}, AbortSignal.timeout(100)));

      expect(thrown).to.include({ code: "timeout" });
      await eventually(() => server.requests[0]?.cancelled, "the request to be cancelled");
    });

    it(`cancels the request of a turn that is stopped ${where}, and throws the reason`, async () => {
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

  it("asks nobody when the signal has fired before", async () => {
    const thrown = await whatWasThrown(ask({}, AbortSignal.abort(new AppError("cancelled"))));

    expect(thrown.code).to.equal("cancelled");
    expect(server.requests).to.deep.equal([]);
  });
});
