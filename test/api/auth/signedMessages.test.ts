import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { hmacWith, PLAIN, SCHEMES, type Scheme, STAMPED, STRIPE } from "../../hooks/signatures/senders.ts";
import { type Answer, startApp, type TestApp } from "../../support/app.ts";

const TOKEN = "a-hook-token-of-length";

type Headers = Record<string, string>;

const UNTIMED = SCHEMES.filter(([, { timestamp }]) => timestamp === undefined);
/** Returns a new body without an id of its sender. */
const newBody = () => JSON.stringify({ text: randomUUID() });

describe("repeated signed message", () => {
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
  const runCount = () => app.stores.runs.collection.native.countDocuments();
  /** The second in which a test begins: messages signed twice in it have the same signature. */
  let start = 0;
  beforeEach(() => {
    start = Math.floor(app.clock.now().getTime() / 1_000);
  });
  const key = (name: string) => ({ "Idempotency-Key": name });

  /** Sends a message that was signed some seconds before the test. */
  const send = (
    scheme: Scheme,
    name: string,
    body: string,
    { secondsAgo = 0, ...headers }: Record<string, unknown> = {},
  ) => post(name, body, { ...scheme.sign(body, start - Number(secondsAgo)), ...(headers as Headers) });

  /** Expects equal 202 responses, and only the runs of one message. */
  async function expectOne(answers: readonly Answer[], before: number, runs = 1): Promise<void> {
    for (const { status, body } of answers) expect([status, body]).to.deep.equal([202, answers[0]?.body]);
    expect(await runCount()).to.equal(before + runs);
  }

  for (const [title, scheme] of UNTIMED) {
    it(`${title}: is answered like the first, even if its unsigned headers, its query or the spelling of its name differ`, async () => {
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

    it(`${title}: is answered like the first when the digits of its signature are written differently`, async () => {
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

    it(`${title}: is answered like the first 23 hours later, and another body is another message`, async () => {
      const [body, before] = [newBody(), await runCount()];
      const first = await send(scheme, title, body);
      app.clock.advance(23 * 3_600_000);

      const again = await send(scheme, title, body, key(randomUUID()));
      await expectOne([first, again], before);
      const other = await send(scheme, title, `${body} `);

      expect(other.body.runId).to.not.equal(first.body.runId);
    });
  }

  it("is accepted once by each mapping when two mappings share a secret", async () => {
    const [body, before] = [newBody(), await runCount()];

    const answers = [];
    for (const name of ["hmac", "again", "hmac", "again"]) answers.push(await send(PLAIN, name, body));

    expect(answers.map(({ status }) => status)).to.deep.equal([202, 202, 202, 202]);
    expect(answers.map(({ body }) => body.runId).slice(2)).to.deep.equal(
      answers.map(({ body }) => body.runId).slice(0, 2),
    );
    expect(await runCount()).to.equal(before + 2);
  });

  it("receives the same runIds for all of its items", async () => {
    const [body, before] = [JSON.stringify({ items: [1, 2, 3], id: randomUUID() }), await runCount()];

    const answers = [await send(PLAIN, "items", body), await send(PLAIN, "items", body, key("items"))];

    await expectOne(answers, before, 3);
  });

  it("is rejected again when its mapping cannot process its body", async () => {
    const body = JSON.stringify({ items: "none", id: randomUUID() });

    const answers = [await send(PLAIN, "items", body), await send(PLAIN, "items", body)];

    expect(answers.map(({ status }) => status)).to.deep.equal([400, 400]);
  });

  for (const [title, scheme] of SCHEMES) {
    it(`${title}: makes one run when it arrives ten times at once, under different Idempotency-Keys or none`, async () => {
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
    it(`${title}: makes no second run when it arrives without an Idempotency-Key, then with one, then signed again with that one`, async () => {
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

    it(`${title}: makes no second run when it arrives under many Idempotency-Keys at once, then signed again with each`, async () => {
      const [body, before] = [newBody(), await runCount()];
      const keys = Array.from({ length: 8 }, () => key(randomUUID()));
      const at = start - 200;

      const answers = await Promise.all(keys.map((one) => post(title, body, { ...scheme.sign(body, at), ...one })));
      for (const [i, one] of keys.entries())
        answers.push(await send(scheme, title, body, { secondsAgo: 100 + i, ...one }));

      await expectOne(answers, before);
    });

    it(`${title}: makes one run when the process died after it had stored the Idempotency-Key and the message is signed again`, async () => {
      const [body, before, mine] = [newBody(), await runCount(), key(randomUUID())];
      const { runs, idempotencyKeys } = app.stores;
      const first = await send(scheme, title, body, { secondsAgo: 90, ...mine });
      await runs.collection.native.deleteOne({ _id: first.body.runId });
      await idempotencyKeys.collection.native.deleteOne({
        "ids.runIds": first.body.runId,
        "ids.message": { $exists: false },
      });

      const answers = [
        await send(scheme, title, body, { secondsAgo: 60, ...mine }),
        await send(scheme, title, body, { secondsAgo: 90 }),
        await send(scheme, title, body, { secondsAgo: 60 }),
      ];

      await expectOne(answers, before);
    });
  }

  for (const [title, scheme] of SCHEMES.filter(([one]) => one !== "standard-webhooks")) {
    it(`${title}: is accepted without the Idempotency-Key of another message that caused a 409`, async () => {
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

  it("is answered like the first when signed with other algorithms", async () => {
    const [body, before] = [newBody(), await runCount()];
    const headers = { "X-Old": hmacWith("another", "sha1", "hex", body) };

    await expectOne([await post("sha1", body, headers), await post("sha1", body, headers)], before);
  });
});
