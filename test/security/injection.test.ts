import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { parseConfig } from "../../src/config/load.ts";
import { useApp } from "../support/useApp.ts";

/** Names with a special meaning for MongoDB, Redis, JavaScript or a path. */
const HOSTILE = [
  ...["$where", "$set", "$ne", "a.b", "a.$.b", "$[]", "a$", "__proto__", "constructor", "prototype", "toString"],
  ...["hasOwnProperty", "_id", "_bsontype", "*", ".*", "^", "{}", '{"$ne":null}', "[object Object]", "null", "0", "-1"],
  ...[
    "a:b",
    "{hash}tag",
    "a|b",
    "a\\b",
    "../../etc/passwd",
    "a/../b",
    "%2e%2e%2f",
    "'; return true; //",
    "a\u2028b",
    "💥",
  ],
];

const bearer = { Authorization: "Bearer a-hook-token-of-length" };
const at = (id: string) => `/api/jobs/${encodeURIComponent(id)}`;

/** Returns the properties of the built-in prototypes, for comparison. */
const prototypes = () =>
  [Object, Array, String, Function].map(({ prototype }) => Reflect.ownKeys(prototype).map(String));

describe("names and keys that other programs would interpret", () => {
  const app = useApp({ config: '{ hooks: { enabled: true, token: "a-hook-token-of-length" } }' });

  it("are the names of separate jobs and steps with their own values", async () => {
    for (const id of HOSTILE) {
      const body = { name: id, metadata: { [id]: id }, input: JSON.parse(`{${JSON.stringify(id)}:{"$gt":""}}`) };
      expect((await app.call("PUT", at(id), body)).status, id).to.equal(201);
      const step = await app.call("PUT", `${at(id)}/steps/${encodeURIComponent(id)}`, { stepName: id, message: id });
      expect(step.status, id).to.equal(201);
    }

    for (const id of HOSTILE) {
      const { body } = await app.call("GET", `${at(id)}?include=steps&stepKey=${encodeURIComponent(id)}`);
      expect([body.jobId, body.name, body.message, body.step.stepKey, body.steps.length]).to.deep.equal([
        id,
        id,
        id,
        id,
        1,
      ]);
      expect(JSON.stringify(body.input)).to.equal(`{${JSON.stringify(id)}:{"$gt":""}}`);
      expect(Object.entries(body.metadata)).to.deep.equal([[id, id]]);
    }
    expect((await app.call("GET", "/api/jobs")).body.jobs).to.have.length(HOSTILE.length);
  }).timeout(120_000);

  it("find and delete only the records with these names", async () => {
    for (const id of HOSTILE) await app.call("PUT", at(id), { name: id, metadata: { [id]: id } });

    for (const id of HOSTILE) {
      const value = encodeURIComponent(id);
      const found = await app.call("GET", `/api/jobs?metadata.${value}=${value}`);
      expect(
        found.body.jobs?.map(({ jobId }: { jobId: string }) => jobId),
        id,
      ).to.deep.equal([id]);
    }
    const startsWith = await app.call("GET", `/api/jobs?name=${encodeURIComponent(".*")}`);
    expect(startsWith.body.jobs.map(({ jobId }: { jobId: string }) => jobId)).to.deep.equal([".*"]);
    expect((await app.call("DELETE", at("$ne"))).status).to.equal(200);
    expect((await app.call("GET", "/api/jobs")).body.jobs).to.have.length(HOSTILE.length - 1);
  }).timeout(120_000);

  it("are no operators in a query, a cursor or a body", async () => {
    await app.call("PUT", "/api/jobs/kept", {});
    const cursor = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const queries = [
      ...[
        "status[$ne]=running",
        "status=$ne",
        "name[$regex]=.*",
        "jobId[$gt]=",
        "limit[$gt]=1",
        "$where=1",
        "__proto__[a]=1",
      ],
      ...["createdFrom[$ne]=1", `cursor=${cursor({ $ne: null })}`, `cursor=${cursor([{ $gt: "" }, { $gt: "" }])}`],
    ];

    for (const query of queries) expect((await app.call("GET", `/api/jobs?${query}`)).status, query).to.equal(400);
    for (const operator of [{ $ne: null }, { $gt: "" }, [{ $set: 1 }]]) {
      const bodies: [string, string, object][] = [
        ["PUT", "/api/jobs/kept", { name: operator }],
        ["PUT", "/api/jobs/kept", { status: operator }],
        ["PUT", "/api/jobs/kept/steps/a", { stepName: operator }],
        ["POST", "/session", { token: operator }],
        ["POST", "/hooks/agent", { message: "a", sessionKey: operator }],
        ["POST", "/hooks/wake", { text: operator }],
      ];
      for (const [method, path, body] of bodies) {
        const { status, body: problem } = await app.call(method, path, body, bearer);
        expect([status, problem.code], `${path} ${JSON.stringify(body)}`).to.deep.equal([400, "invalid_body"]);
      }
    }
  });

  it("are the keys of separate sessions and requests", async () => {
    const runs = new Map<string, string>();

    for (const key of HOSTILE) {
      const headers = { ...bearer, "Idempotency-Key": encodeURIComponent(key) };
      const ask = () => app.call("POST", "/hooks/agent", { message: key, sessionKey: key, deliver: false }, headers);
      const [first, again] = [await ask(), await ask()];
      expect([first.status, again.body.runId], key).to.deep.equal([202, first.body.runId]);
      runs.set(key, first.body.runId);
    }

    expect(new Set(runs.values()).size).to.equal(HOSTILE.length);
    for (const [key, runId] of runs) {
      const { body } = await app.call("GET", `/api/runs?sessionKey=${encodeURIComponent(key)}`);
      expect(
        body.runs.map((run: { runId: string }) => run.runId),
        key,
      ).to.deep.equal([runId]);
      expect((await app.call("GET", `/api/sessions/${encodeURIComponent(key)}/messages`)).body.messages ?? []).to.be
        .empty;
    }
  }).timeout(120_000);

  it("change no prototype", async () => {
    const before = prototypes();
    const id = randomUUID();
    const values = [
      '{"__proto__":{"polluted":1}}',
      '{"constructor":{"prototype":{"polluted":1}}}',
      '{"a":{"__proto__":[1]}}',
    ];

    for (const value of values) {
      const job = `{"input":${value},"metadata":${value},"output":${value},"__proto__":{"polluted":1}}`;
      await app.call("PUT", `/api/jobs/${id}`, job.replace(/,"__proto__.*/, "}"));
      await app.call("PUT", `/api/jobs/${id}`, job);
      await app.call("PUT", `/api/jobs/${id}/steps/__proto__`, `{"stepName":"a","output":${value}}`);
      await app.call("POST", "/hooks/agent", `{"message":"a","__proto__":{"polluted":1},"x":${value}}`, bearer);
      await app.call("POST", "/hooks/wake", `{"text":"a","x":${value}}`, bearer);
      await app.call("GET", "/api/jobs?__proto__=1&constructor[prototype][polluted]=1&metadata.__proto__=1");
      expect(() => parseConfig(value, {})).to.throw();
      expect(() => parseConfig(`{ server: ${value} }`, {})).to.throw();
      parseConfig(`{ agents: { runners: { openai: { headers: { a: "1" } } } } }`, { __proto__: "1", constructor: "2" });
    }

    const { body } = await app.call("GET", `/api/jobs/${id}`);
    expect(JSON.stringify(body.input)).to.equal(values.at(-1));
    expect(prototypes()).to.deep.equal(before);
    expect(({} as { polluted?: number }).polluted).to.equal(undefined);
  });
});
