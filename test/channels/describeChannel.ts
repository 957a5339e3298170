import { expect } from "chai";
import type { Channel, OutgoingMessage, SendOutcome } from "../../src/channels/channel.ts";
import { eventually } from "../support/eventually.ts";
import {
  answers,
  type Behaviour,
  breaks,
  breaksMidway,
  breaksWithin,
  type ChannelServer,
  hangs,
  startChannelServer,
} from "../support/servers/channelServer.ts";

/** The text of each message; no reason may contain it. */
export const TEXT = "the *secret* text";
export const KEY = "6743a0c5d1b2c3e4f5a6b7c8-0";

type ChannelRequest = ChannelServer["requests"][number];

/** The facts about a channel that the shared tests need. */
export interface ChannelScript {
  /** Title of the test suite, such as "Discord channel". */
  readonly title: string;
  /** Answers each request for which no behaviour is scripted. */
  readonly usual: Behaviour;
  /** Creates the channel for a service at this URL. */
  channelAt(url: string): Channel;
  /** A recipient that needs no lookup. */
  readonly to: string;
  /** Texts that no reason may contain, in addition to the message's text and the recipient. */
  readonly secrets: readonly string[];
  /** Scripts the answers to the next messages; by default those to all next requests. */
  readonly script?: (...behaviours: Behaviour[]) => void;
  /** Returns whether a request contains a message; by default each one does. */
  readonly isMessage?: (request: ChannelRequest) => boolean;
  readonly style: Channel["style"];
  readonly idempotentForMs: number;
  /** Recipients that the channel must reject without a request. */
  readonly invalidRecipients: readonly string[];
  /** Matches the reason for rejecting them. */
  readonly invalidRecipientReason?: RegExp;
  /** Answers to the request of `check` that it must report as a failure, with a pattern for its detail. */
  readonly failingChecks?: readonly (readonly [title: string, behaviour: Behaviour, detail: RegExp])[];
}

/** A channel and the server that stands for its service; both are ready inside a test. */
export interface ChannelFixture {
  readonly server: ChannelServer;
  readonly channel: Channel;
  /** Creates the channel for a service at another URL. */
  channelAt(url: string): Channel;
  readonly to: string;
  readonly secrets: readonly string[];
  /** Scripts the answers to the next messages and forgets earlier requests. */
  script(...behaviours: Behaviour[]): void;
  /** Returns the requests that contain a message. */
  messages(): ChannelServer["requests"];
}

/**
 * Describes what each channel must withstand, and the channel's own cases in `special`. Starts a server for the suite and
 * creates a new channel for each test.
 */
export function describeChannel(script: ChannelScript, special: (fixture: ChannelFixture) => void): void {
  describe(script.title, () => {
    let server: ChannelServer;
    let channel: Channel;
    const fixture: ChannelFixture = {
      server: {
        get url() {
          return server.url;
        },
        get requests() {
          return server.requests;
        },
        script: (...behaviours) => server.script(...behaviours),
        close: () => server.close(),
      },
      get channel() {
        return channel;
      },
      channelAt: (url) => script.channelAt(url),
      to: script.to,
      secrets: script.secrets,
      script: script.script ?? ((...behaviours) => server.script(...behaviours)),
      messages: () => server.requests.filter(script.isMessage ?? (() => true)),
    };
    before(async () => {
      server = await startChannelServer(script.usual);
    });
    after(() => server.close());
    beforeEach(() => {
      server.script();
      channel = script.channelAt(server.url);
    });

    describeLimits(fixture, script);
    special(fixture);
    describeNetwork(fixture);
    describeFailingChecks(fixture, script);
  });
}

/** An answer of the service, and what `send` must return for it. */
export type Outcome = readonly [
  title: string,
  behaviour: Behaviour,
  expected: { readonly kind: SendOutcome["kind"]; readonly [field: string]: unknown },
  /** A pattern for the reason, or a part of it. */
  reason?: RegExp | string,
];

/** Describes what the channel returns for answers of its service, with one request for each message. */
export function describeOutcomes(
  fixture: ChannelFixture,
  outcomes: readonly Outcome[],
  message: Partial<OutgoingMessage> = {},
): void {
  for (const [title, behaviour, expected, reason = /\w/] of outcomes) {
    it(`returns ${expected.kind} for ${title}`, async () => {
      fixture.script(behaviour);

      const result = await send(fixture, message);

      expect(result).to.deep.include(expected);
      if (result.kind !== "sent") {
        if (typeof reason === "string") expect(result.reason).to.include(reason);
        else expect(result.reason).to.match(reason);
      }
      expect(fixture.messages()).to.have.length(1);
    });
  }
}

function describeLimits(fixture: ChannelFixture, script: ChannelScript): void {
  const { limit, unit } = script.style;

  it(`accepts ${limit} ${unit} and is idempotent for ${script.idempotentForMs} ms`, () => {
    expect(fixture.channel.style).to.deep.equal(script.style);
    expect(fixture.channel.idempotentForMs).to.equal(script.idempotentForMs);
  });

  for (const to of script.invalidRecipients) {
    it(`returns gone for the recipient ${JSON.stringify(to)} and sends no request`, async () => {
      const result = await send(fixture, { to });

      expect(result.kind).to.equal("gone");
      if (script.invalidRecipientReason) expect(kindOf(result).reason).to.match(script.invalidRecipientReason);
      expect(fixture.server.requests).to.deep.equal([]);
    });
  }
}

function describeFailingChecks(fixture: ChannelFixture, { failingChecks = [] }: ChannelScript): void {
  for (const [title, behaviour, detail] of failingChecks) {
    it(`check fails for ${title}`, async () => {
      fixture.script(behaviour);

      const found = await fixture.channel.check(new AbortController().signal);

      expect(found.ok).to.equal(false);
      expect(found.detail).to.match(detail);
      expectNoSecrets(fixture, found);
    });
  }
}

/** Sends one message and checks that the result contains no secret. */
export async function send(
  fixture: ChannelFixture,
  message: Partial<OutgoingMessage> = {},
  { signal = new AbortController().signal, channel = fixture.channel } = {},
): Promise<SendOutcome> {
  const result = await channel.send(
    { to: fixture.to, text: TEXT, plainText: TEXT, plain: false, key: KEY, ...message },
    signal,
  );
  expectNoSecrets(fixture, result);
  return result;
}

/** Checks that a result contains neither secrets, the message nor the recipient. */
export function expectNoSecrets(fixture: ChannelFixture, result: object): void {
  for (const secret of [...fixture.secrets, TEXT]) expect(JSON.stringify(result)).to.not.include(secret);
  if ("reason" in result) expect(result.reason).to.not.include(fixture.to);
}

/** Shortens each time limit to 0.3 s during `act`. @returns the result and the original length of the last limit */
export async function inBriefTime<T>(act: () => Promise<T>): Promise<{ result: T; forMs: number }> {
  const { timeout } = AbortSignal;
  let forMs = 0;
  AbortSignal.timeout = (ms) => {
    forMs = ms;
    return timeout.call(AbortSignal, 300);
  };
  try {
    const result = await act();
    return { result, forMs };
  } finally {
    AbortSignal.timeout = timeout;
  }
}

/** Error responses in the format of each service, with the same text in each field for text. */
const inEachShape = (words: string): object[] => [
  ...[-1, -5, -32602, -32603].map((code) => ({ jsonrpc: "2.0", error: { code, message: words, data: words } })),
  ...[190, 100, "BadArgument", words].map((code) => ({
    error: { code, message: words, error_data: { details: words } },
  })),
  ...["Validation Error", "Server Error", words].map((type) => ({ message: words, error: { type, message: words } })),
  ...[50035, 99999].map((code) => ({ code, message: words })),
  ...["api.post.x", words].map((id) => ({ id, message: words, detailed_error: words })),
  { ok: false, description: words },
  { ok: false, error: words, needed: words },
  { error: words, error_description: words },
  { error: `{"results":[{"type":"${words}"}]}` },
];

/** Returns the fields of a result that tables compare. */
export const kindOf = ({ kind, ...rest }: SendOutcome) => ("reason" in rest ? { kind, reason: rest.reason } : { kind });

/** Describes how each channel treats network failures, proxies and servers that are not its service. */
function describeNetwork(fixture: ChannelFixture): void {
  const odd = { id: { toString: 1 }, messages: 7, error: { code: { toString: 1 } } };
  const noService = "<html>It works!</html>";
  const cases: [string, Behaviour, SendOutcome["kind"], RegExp][] = [
    ["500 without JSON", answers(500, noService), "transient", /answered 500/],
    ["503", answers(503), "transient", /answered 503/],
    ["502 of a proxy", answers(502, noService), "transient", /answered 502/],
    [
      "504 of a proxy, behind which the message may have been sent",
      answers(504, noService),
      "ambiguous",
      /answered 504/,
    ],
    ["403 of a proxy", answers(403, noService), "transient", /answered 403/],
    ["404 of another server", answers(404, noService), "transient", /answered 404/],
    ["413 of a proxy", answers(413, noService), "content", /answered 413/],
    ["429 of a proxy", answers(429, noService, { "Retry-After": "7" }), "rate-limited", /answered 429/],
    ["429 that breaks off", breaksWithin(429, { "Retry-After": "3" }), "rate-limited", /answered 429/],
    ["503 that breaks off", breaksWithin(503), "transient", /answered 503/],
    ["200 without JSON", answers(200, noService), "ambiguous", /answered 200/],
    ["200 without the expected fields", answers(200, { ok: true }), "ambiguous", /answered 200/],
    ["200 with null", answers(200, "null"), "ambiguous", /answered 200/],
    ["200 with fields of unexpected types", answers(200, odd), "ambiguous", /answered 200/],
    ["204", answers(204), "ambiguous", /answered 204/],
    ["a connection that breaks after the request", breaks, "ambiguous", /connection broke/],
    ["a connection that breaks in the middle of the answer", breaksMidway, "ambiguous", /connection broke/],
  ];
  describeOutcomes(
    fixture,
    cases.map(([title, behaviour, kind, reason]) => [title, behaviour, { kind }, reason]),
  );

  it("never quotes the message, its recipient or a secret that the service returns", async () => {
    const { to, secrets, script } = fixture;
    const isWhole = (secret: string) => !secrets.some((other) => other !== secret && other.includes(secret));
    const kinds: string[] = [];

    for (const quoted of [...secrets.filter(isWhole), TEXT, to]) {
      for (const status of [400, 403, 404, 429, 500]) {
        for (const shape of inEachShape(`It does not take ${quoted} so.`)) {
          script(answers(status, shape), answers(status, shape));
          kinds.push((await send(fixture)).kind);
        }
      }
    }

    expect(new Set(kinds)).to.include("transient").and.not.include("sent");
  });

  it("returns transient for a redirect and does not follow it", async () => {
    const { server, script, messages } = fixture;
    script(answers(307, "", { Location: `${server.url}/elsewhere` }));

    const result = await send(fixture);

    expect(result.kind).to.equal("transient");
    expect(kindOf(result).reason).to.match(/answered 307.*redirect/);
    expect(messages()).to.have.length(1);
    expect(server.requests.map(({ path }) => path)).to.not.include("/elsewhere");
  });

  it("returns ambiguous and cancels the request when the worker stops while a message is being sent", async () => {
    const { script, messages } = fixture;
    const stop = new AbortController();
    script(hangs);

    const sending = send(fixture, {}, { signal: stop.signal });
    await eventually(() => messages().length === 1, "the message");
    stop.abort();

    expect((await sending).kind).to.equal("ambiguous");
    await eventually(() => messages()[0]?.cancelled, "the request to be cancelled");
  });

  it("returns ambiguous when the service accepts the message and does not respond within the time limit", async () => {
    const { script, messages } = fixture;
    script(hangs);

    const { result, forMs } = await inBriefTime(() => send(fixture));

    expect(result.kind).to.equal("ambiguous");
    expect(forMs).to.be.within(10_000, 150_000);
    expect(kindOf(result).reason).to.include(`no answer within ${forMs / 1_000} seconds`);
    await eventually(() => messages()[0]?.cancelled, "the request to be cancelled");
  });

  it("returns transient and sends nothing after the worker has stopped", async () => {
    const { server, script } = fixture;
    script();

    const result = await send(fixture, {}, { signal: AbortSignal.abort() });

    expect(result.kind).to.equal("transient");
    expect(server.requests).to.deep.equal([]);
  });

  it("returns transient for a service that cannot be reached", async () => {
    const closed = await startChannelServer();
    await closed.close();

    const result = await send(fixture, {}, { channel: fixture.channelAt(closed.url) });

    expect(result.kind).to.equal("transient");
    expect(kindOf(result).reason).to.include("ECONNREFUSED");
  });

  it("check fails for a service that cannot be reached", async () => {
    const closed = await startChannelServer();
    await closed.close();

    const found = await fixture.channelAt(closed.url).check(new AbortController().signal);

    expect(found.ok).to.equal(false);
    expect(found.detail).to.include("ECONNREFUSED");
  });
}
