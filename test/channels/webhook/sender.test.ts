import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { proxiesOf } from "../../../src/channels/webhook/connections.ts";
import { type WebhookMessage, type WebhookOutcome, WebhookSender } from "../../../src/channels/webhook/sender.ts";
import { version } from "../../../src/shared/process/version.ts";
import { eventually } from "../../support/eventually.ts";
import {
  answers,
  type Behaviour,
  breaks,
  breaksMidway,
  type ChannelServer,
  drops,
  hangs,
  startChannelServer,
} from "../../support/servers/channelServer.ts";

const SECRET = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
const NEXT_SECRET = `whsec_${Buffer.alloc(64, 9).toString("base64")}`;
const BODY = JSON.stringify({
  type: "job.failed",
  timestamp: "2026-11-25T20:00:00.000Z",
  data: { text: "größer – 漢字" },
});
const STANDARD = "application/json";

describe("webhook sender", () => {
  let receiver: ChannelServer;
  let sender: WebhookSender;
  before(async () => {
    receiver = await startChannelServer(answers(204));
    sender = new WebhookSender();
  });
  after(async () => {
    await sender.close();
    await receiver.close();
  });
  beforeEach(() => receiver.script());

  const send = (change: Partial<WebhookMessage> = {}, by = sender, signal = new AbortController().signal) =>
    by.send(
      {
        url: `${receiver.url}/in?team=sales`,
        isCallback: false,
        id: "evt_1",
        contentType: STANDARD,
        now: new Date(),
        body: Buffer.from(BODY),
        secrets: [SECRET],
        headers: {},
        ...change,
      },
      signal,
    );
  const received = () => receiver.requests[0] ?? expect.fail("nothing was sent");
  const headersOf = () => received().headers as Record<string, string>;

  it("sends the exact bytes with the headers of Standard Webhooks", async () => {
    const now = new Date("2026-11-25T20:00:00.900Z");

    expect(await send({ now })).to.deep.equal({ kind: "sent", status: 204 });

    const { method, path, headers, text } = received();
    expect({ method, path, text }).to.deep.equal({ method: "POST", path: "/in?team=sales", text: BODY });
    expect(headers).to.deep.include({
      "content-type": STANDARD,
      "user-agent": `Signalbox/${version}`,
      "webhook-id": "evt_1",
      "webhook-timestamp": String(Date.parse("2026-11-25T20:00:00Z") / 1_000),
    });
    expect(headers["webhook-signature"]).to.match(/^v1,[A-Za-z0-9+/]{43}=$/);
  });

  it("sends what the package standardwebhooks verifies, with either secret while one replaces the other", async () => {
    await send({ secrets: [SECRET, NEXT_SECRET] });

    for (const secret of [SECRET, NEXT_SECRET]) {
      expect(() => new Webhook(secret).verify(received().text, headersOf())).to.not.throw();
    }
    const stranger = new Webhook(`whsec_${Buffer.alloc(24, 8).toString("base64")}`);
    expect(() => stranger.verify(received().text, headersOf())).to.throw(/signature/i);
    expect(() => new Webhook(SECRET).verify(`${received().text} `, headersOf())).to.throw(/signature/i);
  });

  it("sends a CloudEvent with its content type, signed in the same way", async () => {
    const contentType = "application/cloudevents+json; charset=utf-8";
    await send({ contentType });

    expect(headersOf()["content-type"]).to.equal(contentType);
    new Webhook(SECRET).verify(received().text, headersOf());
  });

  it("adds the operator's headers, which cannot replace its own", async () => {
    await send({ headers: { "X-Env": "prod", "Webhook-Id": "forged", "content-type": "text/plain" } });

    expect(received().headers).to.deep.include({ "x-env": "prod", "webhook-id": "evt_1", "content-type": STANDARD });
  });

  it("sends the user and password of a configured address as Basic authentication", async () => {
    await send({ url: receiver.url.replace("//", "//ops:p%40ss@") });

    expect(received().headers.authorization).to.equal(`Basic ${Buffer.from("ops:p@ss").toString("base64")}`);
  });

  const OUTCOMES: [string, Behaviour, Partial<WebhookOutcome>, RegExp?][] = [
    ["200", answers(200, "ok"), { kind: "sent", status: 200 }],
    ["299", answers(299), { kind: "sent", status: 299 }],
    ["a success whose body breaks off", breaksMidway, { kind: "sent", status: 200 }],
    ["410", answers(410), { kind: "failed", status: 410 }, /answered 410/],
    ["400", answers(400), { kind: "retry", status: 400, retryAfterMs: null }, /answered 400\.$/],
    ["404", answers(404), { kind: "retry", status: 404 }, /answered 404\.$/],
    ["500", answers(500, "secret words"), { kind: "retry", status: 500 }, /answered 500\.$/],
    ["429", answers(429, "", { "Retry-After": "7" }), { kind: "retry", status: 429, retryAfterMs: 7_000 }, /429/],
    [
      "503 for two days",
      answers(503, "", { "Retry-After": "172800" }),
      { kind: "retry", retryAfterMs: 86_400_000 },
      /503/,
    ],
    [
      "a Retry-After that is none",
      answers(429, "", { "Retry-After": "soon" }),
      { kind: "retry", retryAfterMs: null },
      /429/,
    ],
    ["a connection that breaks", breaks, { kind: "retry", status: null }, /broke \(UND_ERR_SOCKET\)/],
    ["a connection that breaks at once", drops, { kind: "retry", status: null }, /broke/],
  ];
  for (const [title, behaviour, expected, reason] of OUTCOMES) {
    it(`returns ${expected.kind} for ${title}`, async () => {
      receiver.script(behaviour);

      const outcome = await send();

      expect(outcome).to.deep.include(expected);
      if ("reason" in outcome) expect(outcome.reason).to.match(reason as RegExp);
      expect(JSON.stringify(outcome)).to.not.match(/secret words|127\.0\.0\.1|whsec/);
    });
  }

  it("honours a Retry-After that is a date", async () => {
    const now = new Date("2026-11-25T20:00:00Z");
    receiver.script(answers(503, "", { "Retry-After": "Wed, 25 Nov 2026 20:01:00 GMT" }));

    expect(await send({ now })).to.include({ kind: "retry", retryAfterMs: 60_000 });
  });

  for (const status of [300, 301, 302, 303, 307, 308]) {
    it(`does not follow a redirect with ${status}`, async () => {
      receiver.script(answers(status, "", { Location: `${receiver.url}/elsewhere` }));

      const outcome = await send();

      expect(outcome).to.include({ kind: "retry", status });
      expect(receiver.requests.map(({ path }) => path)).to.deep.equal(["/in?team=sales"]);
    });
  }

  it("gives up after the time limit when the receiver hangs, and closes the connection", async () => {
    const brief = new WebhookSender({ timings: { timeoutMs: 100 } });
    receiver.script(hangs);

    const outcome = await send({}, brief);

    expect(outcome).to.include({ kind: "retry", status: null, reason: "There was no answer within 0.1 seconds." });
    await eventually(() => received().cancelled, "the connection to close");
    await brief.close();
  });

  it("gives up after the time limit when the name of the receiver does not resolve in time", async () => {
    const lost = new WebhookSender({ timings: { timeoutMs: 50 }, resolve: () => new Promise(() => {}) });

    const outcome = await send({ url: "http://slow.example.com/" }, lost);

    expect(outcome).to.include({ kind: "retry", status: null, reason: "There was no answer within 0.05 seconds." });
    await lost.close();
  });

  it("takes the status of an answer whose body never ends", async () => {
    receiver.script((response) => {
      response.writeHead(200);
      response.write("a");
    });

    expect(await send()).to.deep.equal({ kind: "sent", status: 200 });
    await eventually(() => received().cancelled, "the connection to close");
  });

  it("reads only the beginning of an answer of 10 MB", async () => {
    let sentBytes = 0;
    const chunk = Buffer.alloc(64 * 1024, "a");
    receiver.script((response) => {
      response.writeHead(200, { "Content-Type": "text/plain" });
      const more = () => {
        while (sentBytes < 10 * 1024 * 1024 && !response.destroyed) {
          sentBytes += chunk.length;
          if (!response.write(chunk)) return response.once("drain", more);
        }
        return response.end();
      };
      more();
    });

    expect(await send()).to.deep.equal({ kind: "sent", status: 200 });
    await eventually(() => received().cancelled, "the connection to close");
    expect(sentBytes).to.be.below(5 * 1024 * 1024);
  });

  it("returns stopped when the worker stops while the receiver hangs", async () => {
    const stop = new AbortController();
    receiver.script(hangs);

    const sending = send({}, sender, stop.signal);
    await eventually(() => receiver.requests.length === 1, "the request");
    stop.abort();

    expect(await sending).to.deep.equal({ kind: "stopped" });
  });

  it("returns stopped and sends nothing after the worker has stopped", async () => {
    expect(await send({}, sender, AbortSignal.abort())).to.deep.equal({ kind: "stopped" });
    expect(receiver.requests).to.deep.equal([]);
  });

  it("returns retry when nothing listens at the address", async () => {
    const server = createTcpServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as { port: number };
    await new Promise((closed) => server.close(closed));

    const outcome = await send({ url: `http://127.0.0.1:${port}/` });

    expect(outcome).to.deep.include({ kind: "retry", status: null });
    expect(outcome)
      .to.have.property("reason")
      .that.matches(/ECONNREFUSED/);
  });

  it("returns retry for a name that resolves to nothing", async () => {
    const outcome = await send({ url: "http://nowhere.invalid/" });

    expect(outcome).to.include({ kind: "retry", status: null });
    expect(outcome)
      .to.have.property("reason")
      .that.matches(/ENOTFOUND|EAI_AGAIN/);
  });

  it("fails for good when a header cannot be sent, without a request", async () => {
    for (const headers of [{ "X-Env": "a\r\nX-Forged: 1" }, { "X Env": "a" }, { "Transfer-Encoding": "chunked" }]) {
      const outcome = await send({ headers });

      expect(outcome).to.include({ kind: "failed", reason: "A configured header cannot be sent in a request." });
    }
    expect(receiver.requests).to.deep.equal([]);
  });

  describe("behind a proxy", () => {
    let proxy: Server;
    let targets: string[];
    before(async () => {
      proxy = createServer().on("connect", (request, socket) => {
        targets.push(request.url ?? "");
        const { port } = new URL(receiver.url);
        const upstream = connect(Number(port), "127.0.0.1", () => {
          socket.write("HTTP/1.1 200 Connection Established\r\n\r\n");
          upstream.pipe(socket).pipe(upstream);
        });
      });
      await once(proxy.listen(0, "127.0.0.1"), "listening");
    });
    after(async () => {
      proxy.closeAllConnections();
      await new Promise((closed) => proxy.close(closed));
    });
    beforeEach(() => {
      targets = [];
    });
    const proxied = (noProxy = "") => {
      const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const env = { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: url, NO_PROXY: noProxy };
      return new WebhookSender({ proxies: proxiesOf(env), allowedHosts: [new URL(receiver.url).host] });
    };

    it("sends through the proxy of the environment, which resolves the name", async () => {
      const by = proxied();

      expect(await send({ url: "http://hooks.example.com:81/in" }, by)).to.deep.equal({ kind: "sent", status: 204 });

      expect(targets).to.deep.equal(["hooks.example.com:81"]);
      expect(received().path).to.equal("/in");
      await by.close();
    });

    it("sends directly to hosts of NO_PROXY, and always to a callbackUrl", async () => {
      const [excepting, plain] = [proxied("127.0.0.1"), proxied()];

      expect(await send({}, excepting)).to.include({ kind: "sent" });
      expect(await send({ isCallback: true }, plain)).to.include({ kind: "sent" });

      expect(targets).to.deep.equal([]);
      await Promise.all([excepting.close(), plain.close()]);
    });

    it("uses no proxy unless NODE_USE_ENV_PROXY is set", () => {
      expect(proxiesOf({ HTTP_PROXY: "http://127.0.0.1:1" })).to.equal(undefined);
    });
  });

  it("looks a name up once for concurrent requests, so that it occupies one thread of the resolver", async () => {
    const looked: string[] = [];
    const resolved = Promise.withResolvers<[{ address: string; family: number }]>();
    const counting = new WebhookSender({
      resolve: (hostname) => {
        looked.push(hostname);
        return resolved.promise;
      },
    });

    const url = receiver.url.replace("127.0.0.1", "many.example.com");
    const sending = Array.from({ length: 20 }, () => send({ url }, counting));
    await eventually(() => looked.length > 0, "a lookup");
    resolved.resolve([{ address: "127.0.0.1", family: 4 }]);

    expect(new Set((await Promise.all(sending)).map(({ kind }) => kind))).to.deep.equal(new Set(["sent"]));
    expect(looked).to.deep.equal(["many.example.com"]);
    await counting.close();
  });
});
