import { createHmac } from "node:crypto";
import { createRequire } from "node:module";
import { expect } from "chai";
import { isObject } from "../../../src/shared/text/json.ts";
import { parseTemplate, renderTemplate } from "../../../src/shared/text/template.ts";
import { eventually } from "../../support/eventually.ts";
import { fenced, MappedHookFixture } from "../../support/hooks/mappedHookFixture.ts";

const require = createRequire(import.meta.url);

type Payload = Readonly<Record<string, unknown>>;

const RECORDED = require("@octokit/webhooks-examples") as readonly {
  readonly name: string;
  readonly examples: readonly Payload[];
}[];

const WEBHOOKS = RECORDED.flatMap(({ name, examples }) => examples.map((payload) => ({ event: name, payload })));

/** The fields of the payloads that hold arrays. */
const LISTS = [
  ...new Set(WEBHOOKS.flatMap(({ payload }) => Object.keys(payload).filter((key) => Array.isArray(payload[key])))),
];

const SECRET = "It's a Secret to Everybody";

/** Returns the path and value of each text, number and boolean in a value. */
function* leavesOf(value: unknown, path: string): Generator<[string, unknown]> {
  if (Array.isArray(value)) for (const [i, item] of value.entries()) yield* leavesOf(item, `${path}[${i}]`);
  else if (isObject(value)) for (const [key, item] of Object.entries(value)) yield* leavesOf(item, `${path}["${key}"]`);
  else if (value !== null) yield [path, value];
}

describe("Recorded webhooks of GitHub", () => {
  let fixture: MappedHookFixture;
  before(async () => {
    const common = { deliver: false, wakeMode: "next-heartbeat" };
    const auth = { type: "github", secret: SECRET };
    fixture = await MappedHookFixture.start(
      [
        {
          match: { path: "github" },
          auth,
          name: "{{headers.x-github-event}}",
          messageTemplate: "{{payload}}",
          ...common,
        },
        { match: { path: "batch" }, forEach: "payload", messageTemplate: "{{item}}", ...common },
        ...LISTS.map((key) => ({ match: { path: key }, forEach: key, messageTemplate: "{{item}}", ...common })),
      ],
      { hooks: "maxWaitingRuns: 10000, maxBodyBytes: 1000000" },
    );
  });
  after(() => fixture.close());
  beforeEach(() => {
    fixture.model.requests.length = 0;
  });

  /** Waits for the end of runs, none of which may fail, and returns their messages as the model received them. */
  async function messagesOf(runIds: readonly string[]): Promise<string[]> {
    const { runs } = fixture.app.stores;
    const allEnded = async () =>
      (await runs.collection.native.countDocuments({ _id: { $in: [...runIds] }, open: false })) === runIds.length;
    await eventually(allEnded, "all runs to end");
    expect(await runs.collection.native.distinct("status", { _id: { $in: [...runIds] } })).to.deep.equal(["completed"]);
    // The sign shows where something like a marker was broken up.
    return fixture.model.requests.map(({ body }) => (fenced(body.messages.at(-1).content) ?? "").replaceAll("※", ""));
  }

  it("are accepted with their signatures, and each reaches the agent whole", async () => {
    const runIds = new Set<string>();
    for (const { event, payload } of WEBHOOKS) {
      const body = JSON.stringify(payload);
      const signature = createHmac("sha256", SECRET).update(body).digest("hex");
      const headers = { "X-GitHub-Event": event, "X-Hub-Signature-256": `sha256=${signature}` };
      runIds.add(await fixture.accepted("github", body, headers));
    }

    const messages = await messagesOf([...runIds]);

    // A signature that arrives again is the same webhook.
    const sent = new Set(WEBHOOKS.map(({ payload }) => JSON.stringify(payload)));
    expect(WEBHOOKS).to.have.length.above(300);
    expect(messages.sort()).to.deep.equal([...sent].sort());
  });

  it("start one run for each item of a batch", async () => {
    const runIds: string[] = [];
    for (const { examples } of RECORDED) runIds.push(...(await fixture.acceptedAll("batch", examples)));

    const messages = await messagesOf(runIds);

    expect(messages.sort()).to.deep.equal(WEBHOOKS.map(({ payload }) => JSON.stringify(payload)).sort());
  });

  it("start one run for each item of their lists, and none for an empty list", async () => {
    const runIds: string[] = [];
    const items: string[] = [];
    for (const { payload } of WEBHOOKS) {
      for (const key of LISTS.filter((list) => Array.isArray(payload[list]))) {
        runIds.push(...(await fixture.acceptedAll(key, payload)));
        items.push(
          ...(payload[key] as unknown[]).map((item) => (typeof item === "string" ? item : JSON.stringify(item))),
        );
      }
    }

    const messages = await messagesOf(runIds);

    expect(LISTS).to.include.members(["commits", "pages", "repositories"]);
    expect(messages.sort()).to.deep.equal(items.sort());
  });

  it("have a template for each of their values, whatever its key", () => {
    for (const { event, payload } of WEBHOOKS) {
      const scope = { payload, headers: {}, query: {}, path: "", now: new Date() };
      for (const [path, value] of leavesOf(payload, "payload")) {
        const { text, missing } = renderTemplate(parseTemplate(`{{${path}}}`), scope);

        expect([text, missing], `${event}: ${path}`).to.deep.equal([String(value), value === ""]);
      }
    }
  });
});
