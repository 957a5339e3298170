import { expect } from "chai";
import sinon from "sinon";
import { readLastLines } from "../../../../src/models/jobs/log/readLog.ts";
import { startApp } from "../../../support/app.ts";
import { openEvents } from "../../../support/eventSource.ts";
import { eventually } from "../../../support/eventually.ts";
import { createJob, report, whole } from "../../../support/factories.ts";
import { useSharedApp } from "../../../support/useApp.ts";

const KIB = 1024;
const TOKEN = "a-token-of-some-length";

describe("step logs", () => {
  const app = useSharedApp();
  let job: { jobId: string; path: string };
  beforeEach(async () => {
    job = await createJob(app);
    await report(app, job.path, "a", {});
  });

  const add = (body: string, { step = "a", type = "text/plain" } = {}) =>
    app.call("POST", `${job.path}/steps/${step}/log`, body, { "Content-Type": type });
  const ndjson = (...lines: unknown[]) =>
    add(lines.map((line) => `${JSON.stringify(line)}\n`).join(""), { type: "application/x-ndjson" });
  const read = async (query = "", step = "a") => (await app.call("GET", `${job.path}/steps/${step}/log${query}`)).body;
  const texts = async (query = "") => (await read(query)).lines.map(({ text }: { text: string }) => text);
  const internalId = () => app.stores.jobs.findId(job.jobId);
  /** Returns numbered lines of 64 bytes each, line ends included. */
  const numbered = (count: number, from = 1) =>
    Array.from({ length: count }, (_, i) => `${String(from + i).padEnd(63, ".")}\n`).join("");

  it("keep lines of text with their numbers and times", async () => {
    const { status, body } = await add("one\n\nthree");
    await add("four\n");

    expect([status, body]).to.deep.equal([204, ""]);
    const { lines, next, dropped } = await read();
    expect(lines.map(({ seq, level, text }: Record<string, unknown>) => [seq, level, text])).to.deep.equal([
      [1, null, "one"],
      [2, null, ""],
      [3, null, "three"],
      [4, null, "four"],
    ]);
    expect(lines[0].at).to.match(/^\d{4}-.*\.\d{3}Z$/);
    expect(next).to.equal(4);
    expect(dropped).to.deep.equal({ lines: 0, bytes: 0 });
  });

  it("keep time and level of JSON lines, and split texts of several lines", async () => {
    const at = "2026-03-01T10:00:00.000Z";

    const { status } = await ndjson({ at, level: "warning", text: "one\ntwo" }, { text: "three" });

    expect(status).to.equal(204);
    const { lines } = await read();
    expect(lines[1]).to.deep.equal({ seq: 2, at, level: "warning", text: "two" });
    expect(lines[2]).to.include({ level: null, text: "three" });
  });

  it("recognize a media type in any case of its letters", async () => {
    const text = await add("one", { type: "TEXT/Plain; charset=UTF-8" });
    const lines = await add('{"text":"two"}', { type: "Application/X-NDJSON" });

    expect([text.status, lines.status]).to.deep.equal([204, 204]);
    expect(await texts()).to.deep.equal(["one", "two"]);
  });

  const faulty: [string, string, string][] = [
    ["no JSON", '{"text":"a"}\n{text', "/line 2"],
    ["a missing text", '{"level":"info"}', "/line 1/text"],
    ["an unknown field", '{"text":"a","msg":"b"}', "/line 1/msg"],
    ["a time that does not exist", '{"text":"a","at":"yesterday"}', "/line 1/at"],
    ["a leap second", '{"text":"a","at":"2016-12-31T23:59:60Z"}', "/line 1/at"],
    ["the year 10000 in UTC", '{"text":"a","at":"9999-12-31T23:59:59-10:00"}', "/line 1/at"],
  ];
  for (const [name, body, pointer] of faulty) {
    it(`refuse JSON lines with ${name}, and store none of them`, async () => {
      const { status, body: problem } = await add(body, { type: "application/x-ndjson" });

      expect(status).to.equal(400);
      expect(problem.code).to.equal("invalid_body");
      expect(problem.errors[0].pointer).to.equal(pointer);
      expect((await read()).next).to.equal(0);
    });
  }

  it("refuse other media types, too large bodies, and unknown jobs and steps", async () => {
    const json = await add("{}", { type: "application/json" });
    const large = await add("x".repeat(256 * KIB + 1));
    const step = await add("x", { step: "nope" });
    const unknown = await app.call("POST", "/api/jobs/nope/steps/a/log", "x", { "Content-Type": "text/plain" });
    const unread = await app.call("GET", `${job.path}/steps/nope/log`);

    expect([json.status, json.body.code]).to.deep.equal([415, "unsupported_media_type"]);
    expect([large.status, large.body.code]).to.deep.equal([413, "body_too_large"]);
    expect([step.status, step.body.code]).to.deep.equal([404, "step_not_found"]);
    expect([unknown.status, unknown.body.code]).to.deep.equal([404, "job_not_found"]);
    expect([unread.status, unread.body.code]).to.deep.equal([404, "step_not_found"]);
  });

  it("return lines after a number, the last ones, and text", async () => {
    await add(numbered(30));

    const page = await read("?after=10&limit=5");
    const tail = await read("?tail=2");
    const text = await fetch(`${app.url}${job.path}/steps/a/log`, { headers: { Accept: "text/plain" } });

    expect(page.lines.map(({ seq }: { seq: number }) => seq)).to.deep.equal([11, 12, 13, 14, 15]);
    expect(page.next).to.equal(30);
    expect(tail.lines.map(({ seq }: { seq: number }) => seq)).to.deep.equal([29, 30]);
    expect(text.headers.get("content-type")).to.equal("text/plain; charset=utf-8");
    expect(await text.text()).to.equal(numbered(30));
  });

  it("serve text that looks like HTML as text", async () => {
    await add("<script>alert(1)</script>");

    const response = await fetch(`${app.url}${job.path}/steps/a/log`, { headers: { Accept: "text/plain" } });

    expect(response.headers.get("content-type")).to.equal("text/plain; charset=utf-8");
    expect(await response.text()).to.equal("<script>alert(1)</script>\n");
  });

  const kept = 64 * KIB + 192 * KIB;
  it("keep the first 64 KiB and the last 192 KiB, cut at line ends", async () => {
    const count = 10 * KIB; // 640 KiB
    for (let from = 1; from <= count; from += 2_000) await add(numbered(Math.min(2_000, count - from + 1), from));

    const { lines, next, dropped } = await read("?limit=10000");

    expect(next).to.equal(count);
    expect(lines).to.have.length(kept / 64);
    expect(lines[1_023].seq).to.equal(1_024);
    expect(lines[1_024].seq).to.equal(count - (192 * KIB) / 64 + 1);
    expect(lines.at(-1).text).to.match(new RegExp(`^${count}\\.`));
    expect(dropped).to.deep.equal({ lines: count - kept / 64, bytes: (count - kept / 64) * 64 });
    const stored = await app.database.collections.logChunks.countDocuments({ job: await internalId() });
    expect(stored).to.be.at.most(7);
  });

  it("keep a log of exactly 256 KiB whole, whatever its lines", async () => {
    const lines = [`${"x".repeat(99)}\n`.repeat(1_000), `${"y".repeat(6_143)}\n`.repeat(26)];
    const rest = kept - lines.join("").length;
    lines.push(`${"z".repeat(rest - 1)}\n`);

    for (const one of lines) await add(one);

    const { next, dropped } = await read("?tail=1");
    expect(rest).to.be.within(1, 8 * KIB);
    expect(next).to.equal(1_027);
    expect(dropped).to.deep.equal({ lines: 0, bytes: 0 });
  });

  it("keep 4 MiB of a job, and count further lines as dropped", async () => {
    for (let step = 0; step < 16; step++) {
      await report(app, job.path, `s${step}`, {});
      await add(numbered(4_096), { step: `s${step}` });
    }
    await report(app, job.path, "last", {});
    const { status } = await add(numbered(10), { step: "last" });

    expect(status).to.equal(204);
    expect(await read("", "last")).to.deep.equal({ lines: [], next: 0, dropped: { lines: 10, bytes: 640 } });
    expect((await read("?tail=1", "s15")).dropped).to.deep.equal({ lines: 0, bytes: 0 });
  });

  it("number lines without gaps when many requests append at the same time", async () => {
    const all = Array.from({ length: 60 }, (_, i) => add(numbered(20, i * 20 + 1)));
    const statuses = (await Promise.all(all)).map(({ status }) => status);

    const { lines, next } = await read("?limit=10000");
    expect(new Set(statuses)).to.deep.equal(new Set([204]));
    expect(next).to.equal(1_200);
    expect(lines.map(({ seq }: { seq: number }) => seq)).to.deep.equal(Array.from({ length: 1_200 }, (_, i) => i + 1));
    expect(new Set(lines.map(({ text }: { text: string }) => text)).size).to.equal(1_200);
  });

  it("keep one order and the right size when two processes append to one log", async () => {
    const other = await startApp({ mongo: app.mongoUri });
    const path = `${job.path}/steps/a/log`;
    const all = Array.from({ length: 40 }, (_, i) =>
      (i % 2 ? app : other).call("POST", path, numbered(300, i * 300 + 1), { "Content-Type": "text/plain" }),
    );
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    await other.close();

    const { lines, next, dropped } = await read("?limit=10000");
    expect(new Set(statuses)).to.deep.equal(new Set([204]));
    expect(next).to.equal(12_000);
    expect(lines.length + dropped.lines).to.equal(12_000);
    expect(new Set(lines.map(({ text }: { text: string }) => text)).size).to.equal(kept / 64);
    const [size] = await app.database.collections.logSizes.find({ _id: await internalId() }).toArray();
    expect(size?.bytes).to.equal(kept);
  });

  it("have each line once when the log of another step of the same batch cannot be written", async () => {
    const { chunks } = app.stores.logs.collections;
    const insert = chunks.insertMany.bind(chunks);
    const stub = sinon.stub(chunks, "insertMany").callsFake((documents) => {
      if (documents[0]?.stepKey === "broken") return Promise.reject(new TypeError("broken"));
      return insert(documents);
    });
    const internal = await internalId();
    const line = { at: app.clock.now(), level: null, text: "one" };

    const ends = await Promise.allSettled(
      ["a", "broken", "b"].map((stepKey) =>
        app.stores.logs.appendTo({ job: internal, jobId: job.jobId, stepKey }, { lines: [line], cutBytes: 0 }),
      ),
    );
    stub.restore();

    expect(ends.map(({ status }) => status)).to.deep.equal(["fulfilled", "rejected", "fulfilled"]);
    const stored = await readLastLines(app.stores.logs, internal, 9);
    expect(stored.map(({ text }) => text)).to.deep.equal(["one", "one"]);
    const [size] = await app.stores.logs.collections.sizes.find({ _id: internal });
    expect(size?.bytes).to.equal(2 * Buffer.byteLength("one\n"));
  });

  const shown: [string, string | Buffer, string[]][] = [
    ["the last state of a progress bar", "10%\r20%\r30%\ndone\n", ["30%", "done"]],
    ["a bar that has not ended its line", "10%\r20%\r", ["20%"]],
    ["lines with CR LF", "a\r\nb\r\n", ["a", "b"]],
    [
      "colours, and no other escapes",
      "\x1b[1;31mred\x1b[0m\x1b[2K\x1b]0;title\x07 \x1b[3Aup\x07",
      ["\x1b[1;31mred\x1b[0m up"],
    ],
    ["a bar that erases its line", "\x1b[2K\r10%\x1b[2K\r20%", ["20%"]],
    ["tabs", "a\tb", ["a\tb"]],
  ];
  for (const [name, body, expected] of shown) {
    it(`show ${name}`, async () => {
      await add(body as string);

      expect(await texts()).to.deep.equal(expected);
    });
  }

  it("replace bytes that are not UTF-8", async () => {
    const body = Buffer.from([0x61, 0xff, 0x62, 0x0a]);
    await fetch(`${app.url}${job.path}/steps/a/log`, {
      method: "POST",
      headers: { "Content-Type": "text/plain" },
      body,
    });

    expect(await texts()).to.deep.equal(["a\ufffdb"]);
  });

  it("cut a line at 8 KiB, at a character", async () => {
    await add(`${"ä".repeat(5_000)}\nshort`);

    const { lines, dropped } = await read();
    expect(Buffer.byteLength(lines[0].text)).to.equal(8 * KIB);
    expect(lines[1].text).to.equal("short");
    expect(dropped).to.deep.equal({ lines: 0, bytes: 10_000 - 8 * KIB });
  });

  it("are held until there are further lines with Prefer: wait", async () => {
    await add("one");
    const held = app.call("GET", `${job.path}/steps/a/log?after=1`, undefined, { Prefer: "wait=30" });
    await eventually(() => app.waiting() === 1, "the request to wait");

    await add("two");
    const { body, headers } = await held;

    expect(headers.get("preference-applied")).to.equal("wait=30");
    expect(body.lines.map(({ text }: { text: string }) => text)).to.deep.equal(["two"]);
  });

  it("are no longer there for a request that waits when the job is deleted", async () => {
    const held = app.call("GET", `${job.path}/steps/a/log`, undefined, { Prefer: "wait=30" });
    await eventually(() => app.waiting() === 1, "the request to wait");
    await app.call("DELETE", job.path);

    expect((await held).body.code).to.equal("job_not_found");
  }).timeout(20_000); // shorter than the wait, after which the answer would be the same

  it("are announced to the streams of all records and of their job", async () => {
    const all = await openEvents(`${app.url}/api/events`);
    const other = await openEvents(`${app.url}/api/events?jobId=another`);
    const one = await openEvents(`${app.url}${job.path}/events`);

    await add("one\ntwo");

    const announced = { jobId: job.jobId, stepKey: "a", from: 1, to: 2 };
    expect(await all.next("log")).to.deep.equal(announced);
    expect(await one.next("log")).to.deep.equal(announced);
    const before = one.events.length;
    await add("three");
    expect(await one.next("log")).to.include({ from: 3, to: 3 });
    expect(one.events.slice(before).map(({ event }) => event)).to.deep.equal(["log"]);
    expect(other.events.map(({ event }) => event)).to.not.include("log");
    for (const stream of [all, other, one]) stream.close();
  });

  it("take the lines of a report, also of one that creates the step and ends the job", async () => {
    await report(app, job.path, "b", { log: "first\n" });
    await report(app, job.path, "b", { ...whole(100), output: {}, log: "second\nthird\n" });

    expect((await read("", "b")).lines.map(({ text }: { text: string }) => text)).to.deep.equal([
      "first",
      "second",
      "third",
    ]);
  });

  it("refuse a report whose lines are too large as a whole", async () => {
    const { status, body } = await app.call("PUT", `${job.path}/steps/a`, { progress: 7, log: "ä".repeat(200 * KIB) });

    expect([status, body.errors[0].pointer]).to.deep.equal([400, "/log"]);
    expect((await app.call("GET", `${job.path}/steps/a`)).body.progress).to.equal(0);
  });

  it("take the lines of pings, and change no status", async () => {
    await app.call("POST", `/api/ping/${job.jobId}/done`);
    const { status } = await app.call("POST", `/api/ping/${job.jobId}/log`, "late\n", { "Content-Type": "text/plain" });

    expect(status).to.equal(200);
    expect((await read("", "ping")).lines[0].text).to.equal("late");
    expect((await app.call("GET", job.path)).body).to.include({ status: "completed", progress: 100 });
  });

  it("are deleted with their job, and a job of the same id begins without one", async () => {
    await add("one");
    const { logChunks, logSizes } = app.database.collections;
    const id = await internalId();

    await app.call("DELETE", job.path);

    expect(await logChunks.countDocuments({ job: id })).to.equal(0);
    expect(await logSizes.countDocuments({ _id: id })).to.equal(0);
    await app.call("PUT", job.path, {});
    await report(app, job.path, "a", {});
    expect(await texts()).to.deep.equal([]);
  });

  it("have the lines of a report before it takes effect, also those of a new step", async () => {
    const append = sinon.spy(app.stores.logs, "appendTo");
    const add = sinon.spy(app.stores.reports, "add");

    await report(app, job.path, "new", { log: "the end" });

    expect(append.calledOnce && append.calledBefore(add)).to.equal(true);
    sinon.restore();
  });

  it("show the last lines of all steps of a job together", async () => {
    await report(app, job.path, "b", {});
    await add("one\ntwo\nthree");
    app.clock.advance(1_000);
    await add("four", { step: "b" });
    app.clock.advance(1_000);
    await add("five");

    const lines = await readLastLines(app.stores.logs, await internalId(), 3);

    expect(lines.map(({ stepKey, text }) => [stepKey, text])).to.deep.equal([
      ["a", "three"],
      ["b", "four"],
      ["a", "five"],
    ]);
  });
});

describe("step logs of a service with tokens", () => {
  const app = useSharedApp({ config: `{ server: { apiToken: "${TOKEN}" } }` });

  it("hide the token of the caller, also in JSON lines, reports and pings", async () => {
    const headers = { Authorization: `Bearer ${TOKEN}` };
    await app.call("PUT", "/api/jobs/j", {}, headers);
    await app.call("PUT", "/api/jobs/j/steps/a", { stepName: "A", log: `export T=${TOKEN}` }, headers);

    await app.call("POST", "/api/jobs/j/steps/a/log", `curl -H 'Bearer ${TOKEN}' x`, {
      ...headers,
      "Content-Type": "text/plain",
    });

    await app.call("POST", "/api/jobs/j/steps/a/log", JSON.stringify({ text: `a ${TOKEN.replace("-", "\x1b[2K-")}` }), {
      ...headers,
      "Content-Type": "application/x-ndjson",
    });
    const coloured = `b ${TOKEN.replace("-", "\x1b[1;31m-\x1b[0m")} \x1b[32mok`;
    await app.call("POST", "/api/jobs/j/steps/a/log", coloured, { ...headers, "Content-Type": "text/plain" });
    await app.call("POST", "/api/ping/j/log", TOKEN, { ...headers, "Content-Type": "text/plain" });

    const { body } = await app.call("GET", "/api/jobs/j/steps/a/log", undefined, headers);
    const ping = await app.call("GET", "/api/jobs/j/steps/ping/log", undefined, headers);
    expect(ping.body.lines[0].text).to.equal("***");
    expect(body.lines.map(({ text }: { text: string }) => text)).to.deep.equal([
      "export T=***",
      "curl -H 'Bearer ***' x",
      "a ***",
      "b ***\x1b[1;31m\x1b[0m \x1b[32mok",
    ]);
  });
});
