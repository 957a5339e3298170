import { expect } from "chai";
import type { Channel, OutgoingMessage, SendResult } from "../../src/channels/channel.ts";
import {
  answers,
  type Behaviour,
  breaks,
  breaksMidway,
  breaksWithin,
  type ChannelServer,
  hangs,
  startChannelServer,
} from "../support/channelServer.ts";
import { eventually } from "../support/eventually.ts";

/** The text of every message; no reason may hold it. */
export const TEXT = "the *secret* text";
export const KEY = "6743a0c5d1b2c3e4f5a6b7c8-0";

/** One channel over a server that stands for its service. */
export interface Bed {
  readonly server: ChannelServer;
  readonly channel: Channel;
  /** One whose service is at another address. */
  channelAt(url: string): Channel;
  /** A recipient that is sent to at once. */
  readonly to: string;
  /** What no reason may hold. */
  readonly secrets: readonly string[];
  /** What becomes of the next messages, and of nothing before them. */
  script(...behaviours: Behaviour[]): void;
  /** The messages that the server was sent. */
  messages(): ChannelServer["requests"];
}

/** Sends one message, and sees to it that the reason tells nothing. */
export async function send(
  bed: Bed,
  message: Partial<OutgoingMessage> = {},
  { signal = new AbortController().signal, channel = bed.channel } = {},
): Promise<SendResult> {
  const result = await channel.send({ to: bed.to, text: TEXT, plain: false, key: KEY, ...message }, signal);
  tellsNothing(bed, result);
  return result;
}

export function tellsNothing(bed: Bed, result: object): void {
  for (const secret of [...bed.secrets, TEXT]) expect(JSON.stringify(result)).to.not.include(secret);
  if ("reason" in result) expect(result.reason).to.not.include(bed.to);
}

/** Has every time limit end within a moment, as nobody can wait for a minute here. @returns also the last one's real length */
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

/** Answers of all services' shapes, with the same words wherever one has words. */
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

/** What of a result a table names. */
export const kindOf = ({ kind, ...rest }: SendResult) => ("reason" in rest ? { kind, reason: rest.reason } : { kind });

/** What every channel makes of a network, of proxies and of servers that are no service at all. */
export function withstandsTheNetwork(bed: () => Bed): void {
  const odd = { id: { toString: 1 }, messages: 7, error: { code: { toString: 1 } } };
  const noService = "<html>It works!</html>";
  const cases: [string, Behaviour, SendResult["kind"], RegExp][] = [
    ["500 that is no JSON", answers(500, noService), "transient", /answered 500/],
    ["503", answers(503), "transient", /answered 503/],
    ["502 of a proxy", answers(502, noService), "transient", /answered 502/],
    ["504 of a proxy, behind which it may have been sent", answers(504, noService), "ambiguous", /answered 504/],
    ["403 of a proxy", answers(403, noService), "transient", /answered 403/],
    ["404 of another server", answers(404, noService), "transient", /answered 404/],
    ["413 of a proxy", answers(413, noService), "content", /answered 413/],
    ["429 of a proxy", answers(429, noService, { "Retry-After": "7" }), "rate-limited", /answered 429/],
    ["429 that breaks off", breaksWithin(429, { "Retry-After": "3" }), "rate-limited", /answered 429/],
    ["503 that breaks off", breaksWithin(503), "transient", /answered 503/],
    ["200 that is no JSON", answers(200, noService), "ambiguous", /answered 200/],
    ["200 without what belongs in it", answers(200, { ok: true }), "ambiguous", /answered 200/],
    ["200 that is null", answers(200, "null"), "ambiguous", /answered 200/],
    ["200 of shapes that nobody expects", answers(200, odd), "ambiguous", /answered 200/],
    ["204", answers(204), "ambiguous", /answered 204/],
    ["a connection that breaks after the request", breaks, "ambiguous", /connection broke/],
    ["a connection that breaks in the middle of the answer", breaksMidway, "ambiguous", /connection broke/],
  ];
  for (const [title, behaviour, kind, reason] of cases) {
    it(`makes ${kind} of ${title}`, async () => {
      bed().script(behaviour);

      const result = await send(bed());

      expect(kindOf(result).kind).to.equal(kind);
      expect(kindOf(result).reason).to.match(reason);
      expect(bed().messages()).to.have.length(1);
    });
  }

  it("tells nothing of the message, of its recipient or of a secret that the service quotes", async () => {
    const { to, secrets, script } = bed();
    const isWhole = (secret: string) => !secrets.some((other) => other !== secret && other.includes(secret));
    const kinds: string[] = [];

    for (const said of [...secrets.filter(isWhole), TEXT, to]) {
      for (const status of [400, 403, 404, 429, 500]) {
        for (const shape of inEachShape(`It does not take ${said} so.`)) {
          script(answers(status, shape), answers(status, shape));
          kinds.push((await send(bed())).kind);
        }
      }
    }

    expect(new Set(kinds)).to.include("transient").and.not.include("sent");
  });

  it("follows no redirect, and makes transient of it", async () => {
    const { server, script, messages } = bed();
    script(answers(307, "", { Location: `${server.url}/elsewhere` }));

    const result = await send(bed());

    expect(result.kind).to.equal("transient");
    expect(kindOf(result).reason).to.match(/answered 307.*redirect/);
    expect(messages()).to.have.length(1);
    expect(server.requests.map(({ path }) => path)).to.not.include("/elsewhere");
  });

  it("makes ambiguous of a message under way when the worker stops, and cancels the request", async () => {
    const { script, messages } = bed();
    const stop = new AbortController();
    script(hangs);

    const sending = send(bed(), {}, { signal: stop.signal });
    await eventually(() => messages().length === 1, "the message");
    stop.abort();

    expect((await sending).kind).to.equal("ambiguous");
    await eventually(() => messages()[0]?.cancelled, "the request to be cancelled");
  });

  it("makes ambiguous of a service that takes the message and goes silent, when the channel's own time is over", async () => {
    const { script, messages } = bed();
    script(hangs);

    const { result, forMs } = await inBriefTime(() => send(bed()));

    expect(result.kind).to.equal("ambiguous");
    expect(forMs).to.be.within(10_000, 150_000);
    expect(kindOf(result).reason).to.include(`no answer within ${forMs / 1_000} seconds`);
    await eventually(() => messages()[0]?.cancelled, "the request to be cancelled");
  });

  it("sends nothing when the worker has stopped, which is transient", async () => {
    const { server, script } = bed();
    script();

    const result = await send(bed(), {}, { signal: AbortSignal.abort() });

    expect(result.kind).to.equal("transient");
    expect(server.requests).to.deep.equal([]);
  });

  it("makes transient of a service that is not there", async () => {
    const closed = await startChannelServer();
    await closed.close();

    const result = await send(bed(), {}, { channel: bed().channelAt(closed.url) });

    expect(result.kind).to.equal("transient");
    expect(kindOf(result).reason).to.include("ECONNREFUSED");
  });

  it("checks nothing it cannot reach", async () => {
    const closed = await startChannelServer();
    await closed.close();

    const found = await bed().channelAt(closed.url).check(new AbortController().signal);

    expect(found.ok).to.equal(false);
    expect(found.detail).to.include("ECONNREFUSED");
  });
}
