import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { hmacWith, PLAIN, SCHEMES, type Scheme, STAMPED, STRIPE } from "../../hooks/signatures/senders.ts";
import { type Answer, startApp, type TestApp } from "../../support/app.ts";

const TOKEN = "a-hook-token-of-length";

type Headers = Record<string, string>;

const UNTIMED = SCHEMES.filter(([, { timestamp }]) => timestamp === undefined);
/** A body that holds no id by which its sender would know it. */
const newBody = () => JSON.stringify({ text: randomUUID() });

describe("a signed message that arrives again", () => {
  let app: TestApp;
  before(async () => {
    const mappings = [
      ...SCHEMES.map(([title, { auth }]) => ({ match: { path: title }, auth: { ...auth, shared: true } })),
      { match: { path: "again" }, auth: { ...PLAIN.auth, shared: true } },
      { match: { path: "items" }, auth: { ...PLAIN.auth, shared: true }, forEach: "items" },
      { match: { path: "sha1" }, auth: { type: "hmac", secret: "another", header: "X-Old", algorithm: "sha1" } },
    ];
    app = await startApp({
      config: `{ hooks: { enabled: true, token: "${TOKEN}", mappings: ${JSON.stringify(mappings)} } }`,
    });
  });
  after(() => app.close());

  const post = (name: string, body: string, headers: Headers): Promise<Answer> =>
    app.call("POST", `/hooks/${name}`, body, headers);
  const runCount = () => app.stores.runs.collection.countDocuments();
  /** The second in which a test begins: what is signed twice in it has one signature. */
  let start = 0;
  beforeEach(() => {
    start = Math.floor(app.clock.now().getTime() / 1_000);
  });
  const key = (name: string) => ({ "Idempotency-Key": name });

  /** Sends a message as it was signed so many seconds before the test. */
  const send = (
    scheme: Scheme,
    name: string,
    body: string,
    { secondsAgo = 0, ...headers }: Record<string, unknown> = {},
  ) => post(name, body, { ...scheme.sign(body, start - Number(secondsAgo)), ...(headers as Headers) });

  /** Expects the answers to be the same 202, and the runs to be those of one message. */
  async function expectOne(answers: readonly Answer[], before: number, runs = 1): Promise<void> {
    for (const { status, body } of answers) expect([status, body]).to.deep.equal([202, answers[0]?.body]);
    expect(await runCount()).to.equal(before + runs);
  }

  for (const [title, scheme] of UNTIMED) {
    it(`${title}: is answered as the first time, whatever its unsigned headers, its query and the spelling of its name`, async () => {
      const [body, before] = [newBody(), await runCount()];

      const answers = [
        await send(scheme, title, body, { "X-GitHub-Delivery": randomUUID(), ...key(randomUUID()) }),
        await send(scheme, title, body, { "X-GitHub-Delivery": randomUUID() }),
        await send(scheme, title, body, key(randomUUID())),
        await send(scheme, `${title}/?again=1`, body, { "X-GitHub-Event": "push" }),
        await send(scheme, title.replace("h", "%68"), body, { Authorization: `Bearer ${TOKEN}` }),
      ];

      await expectOne(answers, before);
    });

    it(`${title}: is answered as the first time also where the digits of its signature are written otherwise`, async () => {
      const [body, before] = [newBody(), await runCount()];
      const { [scheme.signature]: signature = "", ...others } = scheme.sign(body);
      const upperCase = signature.replace(/[0-9a-f]{64}/, (digits) => digits.toUpperCase());

      const answers = [
        await post(title, body, { ...others, [scheme.signature]: signature }),
        await post(title, body, { ...others, [scheme.signature]: upperCase }),
      ];

      expect(upperCase).to.not.equal(signature);
      await expectOne(answers, before);
    });

    it(`${title}: is still answered as the first time 23 hours later, and another body is another message`, async () => {
      const [body, before] = [newBody(), await runCount()];
      const first = await send(scheme, title, body);
      app.clock.advance(23 * 3_600_000);

      const again = await send(scheme, title, body, key(randomUUID()));
      await expectOne([first, again], before);
      const other = await send(scheme, title, `${body} `);

      expect(other.body.runId).to.not.equal(first.body.runId);
    });
  }

  it("is remembered for each mapping alone: where two share a secret, each takes it once", async () => {
    const [body, before] = [newBody(), await runCount()];

    const answers = [];
    for (const name of ["hmac", "again", "hmac", "again"]) answers.push(await send(PLAIN, name, body));

    expect(answers.map(({ status }) => status)).to.deep.equal([202, 202, 202, 202]);
    expect(answers.map(({ body }) => body.runId).slice(2)).to.deep.equal(
      answers.map(({ body }) => body.runId).slice(0, 2),
    );
    expect(await runCount()).to.equal(before + 2);
  });

  it("has the same runIds for all of its items", async () => {
    const [body, before] = [JSON.stringify({ items: [1, 2, 3], id: randomUUID() }), await runCount()];

    const answers = [await send(PLAIN, "items", body), await send(PLAIN, "items", body, key("items"))];

    await expectOne(answers, before, 3);
  });

  it("is refused again where its mapping cannot take its body", async () => {
    const body = JSON.stringify({ items: "none", id: randomUUID() });

    const answers = [await send(PLAIN, "items", body), await send(PLAIN, "items", body)];

    expect(answers.map(({ status }) => status)).to.deep.equal([400, 400]);
  });

  for (const [title, scheme] of SCHEMES) {
    it(`${title}: makes one run where it arrives ten times at once, each time under another Idempotency-Key or none`, async () => {
      const [body, before, at] = [newBody(), await runCount(), start - 200];
      const keys = Array.from({ length: 9 }, () => key(randomUUID()));

      const answers = await Promise.all(
        [{}, ...keys].map((headers) => post(title, body, { ...scheme.sign(body, at), ...headers })),
      );

      await expectOne(answers, before);
    });
  }

  const resigned: [string, Scheme][] = [
    ["stripe", STRIPE],
    ["hmac with a time stamp", STAMPED],
  ];
  for (const [title, scheme] of resigned) {
    it(`${title}: makes no second run where it came without an Idempotency-Key, then with one, and then signed anew with that`, async () => {
      const [body, before, mine] = [newBody(), await runCount(), key(randomUUID())];

      const answers = [
        await send(scheme, title, body, { secondsAgo: 90 }),
        await send(scheme, title, body, { secondsAgo: 90, ...mine }),
        await send(scheme, title, body, { secondsAgo: 60, ...mine }),
        await send(scheme, title, body, { secondsAgo: 60 }),
        await send(scheme, title, body, { secondsAgo: 60, ...key(randomUUID()) }),
      ];

      await expectOne(answers, before);
    });

    it(`${title}: makes no second run where it came under many Idempotency-Keys at once, and then signed anew with each`, async () => {
      const [body, before] = [newBody(), await runCount()];
      const keys = Array.from({ length: 8 }, () => key(randomUUID()));
      const at = start - 200;

      const answers = await Promise.all(keys.map((one) => post(title, body, { ...scheme.sign(body, at), ...one })));
      for (const [i, one] of keys.entries())
        answers.push(await send(scheme, title, body, { secondsAgo: 100 + i, ...one }));

      await expectOne(answers, before);
    });

    it(`${title}: makes one run where its process died after it had noted the Idempotency-Key, and it is signed anew`, async () => {
      const [body, before, mine] = [newBody(), await runCount(), key(randomUUID())];
      const { runs, idempotencyKeys } = app.stores;
      const first = await send(scheme, title, body, { secondsAgo: 90, ...mine });
      await runs.collection.deleteOne({ _id: first.body.runId });
      await idempotencyKeys.collection.deleteOne({ "ids.runIds": first.body.runId, "ids.message": { $exists: false } });

      const answers = [
        await send(scheme, title, body, { secondsAgo: 60, ...mine }),
        await send(scheme, title, body, { secondsAgo: 90 }),
        await send(scheme, title, body, { secondsAgo: 60 }),
      ];

      await expectOne(answers, before);
    });
  }

  for (const [title, scheme] of SCHEMES.filter(([one]) => one !== "standard-webhooks")) {
    it(`${title}: is not remembered where another message's Idempotency-Key had it refused, and is accepted without that key`, async () => {
      const [a, b, mine] = [newBody(), newBody(), key(randomUUID())];
      const first = await send(scheme, title, a, mine);
      const before = await runCount();

      const refused = [await send(scheme, title, b, mine), await send(scheme, title, b, mine)];
      expect(await runCount()).to.equal(before);
      const answers = [await send(scheme, title, b), await send(scheme, title, b, key(randomUUID()))];
      const late = [await send(scheme, title, b, mine), await send(scheme, title, a, mine)];

      for (const { status, body } of refused) {
        expect([status, body.code]).to.deep.equal([409, "idempotency_conflict"]);
      }
      await expectOne(answers, before);
      expect(late.map(({ body }) => body.runId)).to.deep.equal([answers[0]?.body.runId, first.body.runId]);
    });
  }

  it("is answered as the first time in other algorithms too", async () => {
    const [body, before] = [newBody(), await runCount()];
    const headers = { "X-Old": hmacWith("another", "sha1", "hex", body) };

    await expectOne([await post("sha1", body, headers), await post("sha1", body, headers)], before);
  });
});
