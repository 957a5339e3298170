import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { startApp, type TestApp } from "../../../support/app.ts";
import { type Message, SNS_PEM, signed } from "../../../support/hooks/snsMessages.ts";

const TLS = readFileSync("test/fixtures/localhost.pem", "utf8");
const CERTIFICATE = SNS_PEM.slice(SNS_PEM.indexOf("-----BEGIN CERTIFICATE"));
const TOPIC = "arn:aws:sns:eu-central-1:123456789012:alarms";
const HOST = "https://sns.eu-central-1.amazonaws.com";
const CERTIFICATE_URL = `${HOST}/SimpleNotificationService-0123456789abcdef.pem`;
const API = { Authorization: "Bearer an-api-token-of-length" };

describe("messages of Amazon SNS", () => {
  let app: TestApp;
  let asked: string[];
  /** Answers the requests to SNS by their path. */
  let answers: Record<string, { status: number; body: string }>;
  const service = createServer((req, res) => {
    asked.push(req.url ?? "");
    const { status, body } = answers[(req.url ?? "").split("?")[0] as string] ?? { status: 404, body: "" };
    res.writeHead(status, status === 302 ? { Location: "/elsewhere" } : {}).end(body);
  });
  before(async () => {
    await once(service.listen(0, "127.0.0.1"), "listening");
  });
  after(() => service.close());
  beforeEach(async () => {
    asked = [];
    answers = {
      [new URL(CERTIFICATE_URL).pathname]: { status: 200, body: CERTIFICATE },
      "/": { status: 200, body: "<ConfirmSubscriptionResponse/>" },
    };
    const { port } = service.address() as AddressInfo;
    app = await startApp({
      config: JSON.stringify({
        server: { apiToken: "an-api-token-of-length" },
        hooks: {
          enabled: true,
          token: "a-hook-token-of-length",
          keepRequests: "30d",
          mappings: [{ preset: "sns", auth: { topicArns: [TOPIC] } }],
        },
      }),
      countFailure: async () => {},
      snsFetch: (url, init) => fetch(`http://127.0.0.1:${port}${url.pathname}${url.search}`, init),
    });
  });
  afterEach(() => app.close());

  const message = (more: Message = {}): Message => ({
    Type: "Notification",
    MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    TopicArn: TOPIC,
    Subject: "Disk full",
    Message: '{"AlarmName":"Disk"}\nGrüße 💶',
    Timestamp: app.clock.now().toISOString(),
    SignatureVersion: "2",
    SigningCertURL: CERTIFICATE_URL,
    ...more,
  });
  const confirmation = (more: Message = {}): Message => {
    const { Subject: _, ...rest } = message();
    return {
      ...rest,
      Type: "SubscriptionConfirmation",
      Token: "2336412f",
      SubscribeURL: `${HOST}/?Action=ConfirmSubscription`,
      ...more,
    };
  };
  const send = (body: object, headers: Record<string, string> = {}) =>
    fetch(`${app.url}/hooks/sns`, {
      method: "POST",
      headers: { "Content-Type": "text/plain; charset=UTF-8", "x-amz-sns-topic-arn": TOPIC, ...headers },
      body: JSON.stringify(body),
    });
  const runs = async () => (await app.call("GET", "/api/runs", undefined, API)).body.runs;
  const kept = async () => (await app.call("GET", "/api/hooks/requests", undefined, API)).body.requests;

  for (const version of ["1", "2"]) {
    it(`are verified with the certificate that they name (version ${version})`, async () => {
      const body = signed(message({ SignatureVersion: version }));
      const first = await send(body);
      const second = await send(signed(message({ SignatureVersion: version, MessageId: "another" })));
      const again = await send(body);

      expect([first.status, second.status, again.status]).to.deep.equal([202, 202, 202]);
      expect((await again.json()).runId).to.equal((await first.json()).runId);
      expect(asked).to.deep.equal([new URL(CERTIFICATE_URL).pathname]);
      expect(await runs()).to.have.length(2);
      const [{ signature, requestId }] = await kept();
      expect(signature).to.deep.equal({ type: "sns", verdict: "valid" });
      const path = `/api/hooks/requests/${requestId}/replay`;
      const { runs: previews } = (await app.call("POST", path, { dryRun: true }, API)).body;
      expect(previews[0]).to.include({ name: "SNS Disk full", sessionKey: `hook:sns:${TOPIC}` });
      expect(previews[0].message).to.include('Disk full\n{"AlarmName":"Disk"}\nGrüße 💶\nTopic: arn:aws:sns:');
    });
  }

  for (const [title, change] of [
    ["another text", { Message: "another" }],
    ["another subject", { Subject: "another" }],
    ["no subject", { Subject: undefined }],
    ["another type", { Type: "SubscriptionConfirmation", Token: "x", SubscribeURL: `${HOST}/?a` }],
    ["an unknown version", { SignatureVersion: "3" }],
    ["another topic", { TopicArn: `${TOPIC}-of-a-stranger` }],
    ["an old time", { Timestamp: "2020-01-01T00:00:00.000Z" }],
    ["a number as text", { Message: 7 }],
    ["a certificate that SNS does not have", { SigningCertURL: `${HOST}/SimpleNotificationService-other.pem` }],
  ] as const) {
    it(`are refused with ${title}`, async () => {
      expect((await send({ ...signed(message()), ...change })).status).to.equal(401);
      expect(await runs()).to.deep.equal([]);
    });
  }

  for (const url of [
    "https://sns.eu-central-1.amazonaws.com.example.org/SimpleNotificationService-1.pem",
    "https://sns.us-east-1.amazonaws.com/SimpleNotificationService-1.pem",
    "http://sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem",
    "https://sns.eu-central-1.amazonaws.com:8443/SimpleNotificationService-1.pem",
    "https://user@sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem",
    "https://sns.eu-central-1.amazonaws.com/other/SimpleNotificationService-1.pem",
    "https://sns.eu-central-1.amazonaws.com/SimpleNotificationService-1.pem?x=1",
    "https://127.0.0.1/SimpleNotificationService-1.pem",
    "file:///etc/passwd",
    "",
  ]) {
    it(`are refused, and nothing is fetched, with the certificate ${url || "(none)"}`, async () => {
      expect((await send(signed(message({ SigningCertURL: url })))).status).to.equal(401);
      expect(asked).to.deep.equal([]);
    });
  }

  it("are refused before the body is read if the headers name another topic, or none", async () => {
    const statuses = [
      await send(signed(message()), { "x-amz-sns-topic-arn": "arn:aws:sns:eu-central-1:123456789012:other" }),
      await send(signed(message()), { "x-amz-sns-topic-arn": "" }),
    ].map(({ status }) => status);

    expect(statuses).to.deep.equal([401, 401]);
    expect(asked).to.deep.equal([]);
  });

  for (const [title, body] of [
    ["is no certificate", "nonsense"],
    ["belongs to another key", TLS.slice(TLS.indexOf("-----BEGIN CERTIFICATE"))],
  ] as const) {
    it(`are refused if what SNS answers ${title}`, async () => {
      answers[new URL(CERTIFICATE_URL).pathname] = { status: 200, body };

      expect((await send(signed(message()))).status).to.equal(401);
    });
  }

  for (const answer of [
    { status: 503, body: "" },
    { status: 200, body: "x".repeat(70_000) },
  ]) {
    it(`are asked for again (503) while SNS answers with ${answer.status} and ${answer.body.length} bytes`, async () => {
      const path = new URL(CERTIFICATE_URL).pathname;
      const [body, good] = [signed(message()), answers[path]];
      answers[path] = answer;
      const before = await send(body);
      answers[path] = good as typeof answer;
      const after = await send(body);

      expect([before.status, after.status]).to.deep.equal([503, 202]);
    });
  }

  it("cause at most 20 requests for certificates a minute, and known ones stay usable", async () => {
    expect((await send(signed(message()))).status).to.equal(202);
    const statuses = [];
    for (let i = 0; i < 25; i++) {
      const url = `${HOST}/SimpleNotificationService-${i}.pem`;
      statuses.push((await send(signed(message({ SigningCertURL: url })))).status);
    }

    expect(statuses).to.deep.equal([...Array(19).fill(401), ...Array(6).fill(503)]);
    expect(asked).to.have.length(20);
    expect((await send(signed(message({ MessageId: "later" })))).status).to.equal(202);
  });

  it("confirm a subscription by the address that SNS sends, and start no run", async () => {
    const answer = await send(signed(confirmation()));

    expect(answer.status).to.equal(202);
    expect(await answer.json()).to.deep.equal({ ok: true, runId: null, runIds: [] });
    expect(asked).to.deep.equal([new URL(CERTIFICATE_URL).pathname, "/?Action=ConfirmSubscription"]);
    expect((await kept()).map(({ outcome }: { outcome: string }) => outcome)).to.deep.equal(["filtered"]);
    expect(await runs()).to.deep.equal([]);
  });

  it("confirm nothing at another address, without a redirect, and not the end of a subscription", async () => {
    const elsewhere = await send(
      signed(confirmation({ SubscribeURL: "https://example.org/?Action=ConfirmSubscription" })),
    );
    const unsubscribed = await send(signed(confirmation({ Type: "UnsubscribeConfirmation" })));
    answers["/"] = { status: 302, body: "" };
    const redirected = await send(signed(confirmation()));
    answers["/"] = { status: 500, body: "" };
    const failed = await send(signed(confirmation()));

    expect([elsewhere.status, unsubscribed.status, redirected.status, failed.status]).to.deep.equal([
      401, 202, 401, 503,
    ]);
    expect(asked.filter((path) => path === "/elsewhere")).to.deep.equal([]);
  });
});
