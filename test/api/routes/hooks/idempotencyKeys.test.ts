import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { joinKey } from "../../../../src/api/routes/hooks/hooks.ts";
import { type Answer, startApp, type TestApp } from "../../../support/app.ts";

const TOKEN = "a-hook-token-of-length";
const OWN_TOKENS = ["a-token-of-the-first", "a-token-of-the-second"];

describe("Idempotency-Keys of hooks", () => {
  let app: TestApp;
  before(async () => {
    const mappings = [
      ...OWN_TOKENS.map((token, i) => ({ match: { path: `own-${i}` }, auth: { type: "token", token } })),
      { match: { path: "both", source: "own" }, auth: { type: "token", token: "a-token-of-a-source" } },
      { match: { path: "both" } },
      { match: { path: "ci" } },
      { match: { path: "items" }, forEach: "items" },
      { id: "any" },
    ];
    app = await startApp({
      config: `{ hooks: { enabled: true, token: "${TOKEN}", mappings: ${JSON.stringify(mappings)} } }`,
    });
  });
  after(() => app.close());

  const BODY = { text: "the same", message: "the same" };
  const post = (name: string, key: string, body: object = BODY, token = TOKEN): Promise<Answer> =>
    app.call("POST", `/hooks/${name}`, body, { Authorization: `Bearer ${token}`, "Idempotency-Key": key });
  const idOf = ({ body }: Answer): unknown => body.runId ?? body.eventId;

  const NAMES: [title: string, name: string][] = [
    ["wake", "wake"],
    ["agent", "agent"],
    ["a mapping's name", "ci"],
    ["a name that a mapping of every name takes", "anything"],
    ["another one", "another"],
    ["a nested one", "ci/build"],
    ["one that differs in its case", "CI"],
    ["one that is agent in another case", "Agent"],
    ["one that is agent percent-encoded", "%61gent"],
    ["one that is wake percent-encoded", "wak%65"],
    ["one that is ci percent-encoded twice", "%2563i"],
  ];

  it("are separate for each hook: each accepts the same key once, and repeats its own response", async () => {
    const key = randomUUID();
    const sendAll = async () => {
      const answers: Answer[] = [];
      for (const [, name] of NAMES) answers.push(await post(name, key));
      return answers;
    };

    const [first, again] = [await sendAll(), await sendAll()];

    for (const [i, { status, body }] of first.entries()) {
      expect(status, `${NAMES[i]?.[0]}: ${JSON.stringify(body)}`).to.equal(NAMES[i]?.[1] === "wake" ? 200 : 202);
    }
    expect(new Set(first.map(idOf))).to.have.property("size", NAMES.length);
    expect(again.map(({ body }) => body)).to.deep.equal(first.map(({ body }) => body));
  });

  for (const [title, name] of NAMES) {
    it(`conflict with another body on the same hook: ${title}`, async () => {
      const key = randomUUID();
      await post(name, key);

      const { status, body } = await post(name, key, { text: "another", message: "another" });

      expect([status, body.code]).to.deep.equal([409, "idempotency_conflict"]);
    });
  }

  const spellings: [name: string, other: string][] = [
    ["ci", "ci/"],
    ["ci", "%63i"],
    ["ci", "c%69/?again=1"],
    ["ci/build", "ci%2Fbuild"],
    ["ci/build", "ci%2fbuild/"],
    ["agent", "agent/"],
    ["agent", "agent?token=x"],
    ["wake", "wake/"],
    ["größe", "gr%C3%B6%C3%9Fe"],
  ];
  for (const [name, other] of spellings) {
    it(`are the same for ${name} and ${other}, two spellings of one hook`, async () => {
      const key = randomUUID();
      const first = await post(name, key);

      const again = await post(other, key);
      const conflict = await post(other, key, { text: "another", message: "another" });

      expect(again.body).to.deep.equal(first.body);
      expect(conflict.status).to.equal(409);
    });
  }

  it("are separate for each sender with a token of its own, and from those of the hook token", async () => {
    const key = randomUUID();
    const own = { ...BODY, source: "own" };
    const sendAll = async () => [
      await post("own-0", key, BODY, OWN_TOKENS[0]),
      await post("own-1", key, BODY, OWN_TOKENS[1]),
      await post("both", key, own, "a-token-of-a-source"),
      await post("both", key, BODY),
      await post("ci", key, own),
    ];

    const [first, again] = [await sendAll(), await sendAll()];

    expect(first.map(({ status }) => status)).to.deep.equal(Array(5).fill(202));
    expect(new Set(first.map(idOf))).to.have.property("size", 5);
    expect(again.map(idOf)).to.deep.equal(first.map(idOf));
  });

  it("cannot collide with the stored form of another hook's or sender's key", async () => {
    const lookAlikes = (key: string) => [
      ...["agent", "wake", "ci", "own-0"].flatMap((name) =>
        ["built-in", "mapped", "key", "message", "hook", "name"].map((kind) => JSON.stringify([kind, name, key])),
      ),
      ...["agent", "wake", "ci", "own-0"].flatMap((name) => [`${name}:${key}`, `${name}/${key}`, `["${name}","${key}`]),
      `\\n["built-in","agent","${key}"]`,
      `%0A["built-in","agent","${key}"]`,
    ];
    const key = randomUUID().slice(0, 8);
    for (const name of ["anything", "agent", "ci"]) {
      for (const one of lookAlikes(key)) await post(name, one, { text: "a", message: "of another" });
    }

    const answers = [
      await post("agent", key),
      await post("wake", key),
      await post("ci", key),
      await post("own-0", key, BODY, OWN_TOKENS[0]),
    ];

    expect(answers.map(({ status }) => status)).to.deep.equal([202, 200, 202, 202]);
  });

  it("cannot be forged by moving the border between hook and key, or by quotation marks", async () => {
    const pairs: [string, string][] = [
      ["a/b", "c"],
      ["a", "b/c"],
      ["a", "/b/c"],
      ['a","b', "c"],
      ["a", 'b","c'],
      ["a%22,%22b", "d"],
      ["a", 'b","d'],
      ["a%0Ab", "e"],
      ["a", "b\\ne"],
    ];

    const answers = [];
    for (const [name, key] of pairs) answers.push(await post(encodeURI(decodeURI(name)), key));

    expect(answers.map(({ status }) => status)).to.deep.equal(pairs.map(() => 202));
    expect(new Set(answers.map(idOf))).to.have.property("size", pairs.length);
  });

  it("with a record of their own are honoured, and conflict with another body", async () => {
    const [key, ids] = [randomUUID(), { runId: randomUUID(), sessionKey: "hook:before" }];
    await app.stores.idempotencyKeys.reserve(joinKey("built-in", "agent", key), ["agent", BODY], ids);

    const answers = [await post("agent", key), await post("agent", key, { message: "another" })];

    expect(answers.map(({ status }) => status)).to.deep.equal([202, 409]);
    expect(answers[0]?.body).to.deep.equal({ ok: true, ...ids });
    expect(await app.stores.runs.collection.native.countDocuments({ _id: ids.runId })).to.equal(1);
  });

  const countOf = async () => {
    const { runs, mainEvents } = app.stores;
    return (await runs.collection.native.countDocuments()) + (await mainEvents.collection.native.countDocuments());
  };

  for (const name of ["agent", "wake", "ci"]) {
    it(`of ${name} have one effect when ten requests arrive at once, and need no record of their own`, async () => {
      const [key, before] = [randomUUID(), await countOf()];
      const records = () =>
        app.stores.idempotencyKeys.collection.native.countDocuments({ createdAt: { $exists: true } });
      const recordsBefore = await records();

      const answers = await Promise.all(Array.from({ length: 10 }, () => post(name, key)));

      for (const { body } of answers) expect(body).to.deep.equal(answers[0]?.body);
      expect([await countOf(), await records()]).to.deep.equal([before + 1, recordsBefore]);
    });

    it(`of ${name} are valid for 24 hours, and available for another request after that, even if ten arrive at once`, async () => {
      const [key, before] = [randomUUID(), await countOf()];
      const first = await post(name, key);
      app.clock.advance(23 * 3_600_000);
      const again = await post(name, key);
      const conflict = await post(name, key, { text: "another", message: "another" });
      app.clock.advance(2 * 3_600_000);

      const other = { text: "other", message: "other" };
      const later = await Promise.all(Array.from({ length: 10 }, () => post(name, key, other)));
      const conflicts = await post(name, key);

      expect(idOf(again)).to.equal(idOf(first));
      expect(conflict.status).to.equal(409);
      expect(new Set(later.map(idOf))).to.have.property("size", 1);
      expect(idOf(later[0] as Answer)).to.not.equal(idOf(first));
      expect(conflicts.status).to.equal(409);
      expect(await countOf()).to.equal(before + 2);
    });
  }

  it("of a mapping with forEach conflict when the number of items differs, whichever request was first", async () => {
    const bodies = [{ items: [] }, { items: [1] }, { items: [1, 2] }];
    for (const first of bodies) {
      const key = randomUUID();
      const accepted = await post("items", key, first);
      const others = await Promise.all(bodies.filter((body) => body !== first).map((body) => post("items", key, body)));
      const again = await post("items", key, first);

      expect(accepted.status).to.equal(202);
      expect(others.map(({ status }) => status)).to.deep.equal([409, 409]);
      expect(again.body).to.deep.equal(accepted.body);
    }
  });

  it("yield run ids that cannot be derived from the key: they differ in each database", async () => {
    const [other, key] = [await startApp({ config: `{ hooks: { enabled: true, token: "${TOKEN}" } }` }), "order-1"];
    const headers = { Authorization: `Bearer ${TOKEN}`, "Idempotency-Key": key };

    const answers = [await post("agent", key), await other.call("POST", "/hooks/agent", BODY, headers)];
    await other.close();

    expect(answers.map(({ status }) => status)).to.deep.equal([202, 202]);
    expect(idOf(answers[0] as Answer)).to.not.equal(idOf(answers[1] as Answer));
  });
});
