import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { expect } from "chai";
import fc from "fast-check";
import {
  type Client,
  createClient,
  type LiveEvent,
  type SignalboxError,
  type WatchedJob,
} from "../../src/client/client.ts";
import { connect } from "../../src/client/connection.ts";
import { readEvents } from "../../src/client/events.ts";
import { watch } from "../../src/client/watch.ts";
import { eventually } from "../support/eventually.ts";
import {
  answers,
  type Behaviour,
  breaks,
  type ChannelServer,
  hangs,
  startChannelServer,
} from "../support/servers/channelServer.ts";
import { useSharedApp } from "../support/useApp.ts";
import { RestartingApp } from "./restarting.ts";
import { useShortBackoff } from "./shortBackoff.ts";

/** Responds with a stream that begins with these lines, then calls `then`. */
const streams =
  (text: string, then: (response: ServerResponse) => void = () => {}): Behaviour =>
  (response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(text, () => then(response));
  };
const ends = (response: ServerResponse) => void response.end();
const event = (type: string, data: object, id?: string) =>
  `event: ${type}\ndata: ${JSON.stringify(data)}\n${id ? `id: ${id}\n` : ""}\n`;
const live = event("state", { live: true }, "1");
const QUICK = "retry: 1\n\n";

/** Returns the next `count` events, or fewer at the end. */
async function take<T>(events: AsyncIterator<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  while (taken.length < count) {
    const { done, value } = await events.next();
    if (done) break;
    taken.push(value);
  }
  return taken;
}

describe("signalbox/client watch()", () => {
  let server: ChannelServer;
  let client: Client;
  beforeEach(async () => {
    server = await startChannelServer();
    client = createClient({ url: server.url, token: "the-token" });
  });
  afterEach(async () => {
    await client.close();
    await server.close();
  });

  it("sends the topics, the filter and the token", async () => {
    server.script(streams(live));
    const filter = { status: ["running", "failed"] as const, stale: true, metadata: { team: "a b" }, name: undefined };

    await take(client.watch({ topics: ["jobs", "runs"], filter }), 1);

    const [{ path, headers } = {}] = server.requests;
    expect(path).to.equal(
      "/api/events?status=running&status=failed&stale=true&metadata.team=a+b&topic=jobs&topic=runs",
    );
    expect(headers).to.include({ authorization: "Bearer the-token", accept: "text/event-stream" });
  });

  it("reports a broken connection, and resumes after the last event", async () => {
    const run = { runId: "r", status: "running" };
    server.script(
      streams(`${QUICK}${live}${event("run", run, "2")}`, (response) => response.destroy()),
      answers(503),
      breaks,
      streams(`${event("state", { live: true }, "3")}`, ends),
      streams(event("state", { live: true }, "4")),
    );

    const events = await take(client.watch(), 6);

    const away = { type: "state", data: { live: false, reason: "disconnected" } };
    const there = { type: "state", data: { live: true } };
    expect(events).to.deep.equal([there, { type: "run", data: run }, away, there, away, there]);
    const resumed = server.requests.map(({ headers }) => headers["last-event-id"]);
    expect(resumed).to.deep.equal([undefined, "2", "2", "2", "3"]);
  });

  it("reconnects after too long a silence", async () => {
    server.script(streams(`${QUICK}${live}`), streams(event("state", { live: true }, "2")));
    const closing = new AbortController();
    const connection = connect({ url: server.url }, closing.signal);
    const context = { connection, closed: closing.signal, retryForMs: 0, onError: () => {}, pending: new Set<never>() };

    const events = await take(watch(context, {}, 100), 3);

    expect(events.map(({ data }) => (data as { live: boolean }).live)).to.deep.equal([true, false, true]);
    expect(server.requests.map(({ headers }) => headers["last-event-id"])).to.deep.equal([undefined, "1"]);
    closing.abort();
  });

  for (const [status, code] of [
    [401, "unauthorized"],
    [404, "job_not_found"],
    [400, "invalid_query"],
  ] as const)
    it(`throws when the service refuses the stream with ${status} ${code}`, async () => {
      server.script(answers(status, { code, detail: "Why." }));

      const error = await take(client.watch({ job: "a/b" }), 1).catch((error) => error);

      expect(error).to.include({ status, code });
      expect(server.requests.map(({ path }) => path)).to.deep.equal(["/api/jobs/a%2Fb/events"]);
    });

  for (const [what, behaviour] of [
    ["a page", answers(200, "<h1>Welcome</h1>\n\n")],
    ["no body", answers(204)],
  ] as const)
    it(`throws when another server responds with ${what}`, async () => {
      server.script(behaviour);

      const error = await take(client.watch(), 2).catch((error) => error);

      expect(error).to.include({ code: "unexpected_answer", isTransient: false });
      expect(server.requests).to.have.length(1);
    });

  it("calls onError for each failed connection, but not for its own end", async () => {
    const errors: unknown[] = [];
    const client = createClient({ url: server.url, onError: (error) => errors.push((error as SignalboxError).status) });
    server.script(streams(`${QUICK}${live}`, ends), answers(503), breaks, streams(live, ends), hangs);

    const events = client.watch();
    await take(events, 4);
    const next = events.next();
    await eventually(() => server.requests.length === 5, "the last connection");
    await client.close();

    expect(await next).to.deep.equal({ done: true, value: undefined });
    expect(errors).to.deep.equal([503, 0]);
  });

  it("ends and closes the connection when the signal is aborted, the loop is left or the client is closed", async () => {
    const controller = new AbortController();
    const leave: [object, (events: AsyncGenerator) => unknown][] = [
      [{ signal: controller.signal }, () => controller.abort()],
      [{}, (events) => events.return(undefined)],
      [{}, () => client.close()],
    ];
    for (const [options, act] of leave) {
      server.script(streams(live));
      const events = client.watch(options);
      await events.next();

      const next = act === leave[1]?.[1] ? undefined : events.next();
      await act(events);

      expect(await (next ?? events.next())).to.deep.equal({ done: true, value: undefined });
      await untilCancelled(server);
    }
  });

  it("parses events in chunks of any size, with lines that end in LF or CRLF", async () => {
    const lines = fc.constantFrom("\n", "\r\n");
    const text = fc.string({ unit: "grapheme" }).map((text) => text.replaceAll(/[\r\n\0]/g, "·"));
    const sent = fc.array(
      fc.record({ type: text.filter(Boolean), data: fc.array(text, { minLength: 1 }), id: text.filter(Boolean) }),
    );
    await fc.assert(
      fc.asyncProperty(sent, lines, fc.array(fc.nat(200)), async (events, end, cuts) => {
        const stream = events.flatMap(({ type, data, id }) => [
          ...[":", ": a comment", `event: ${type}`, `id: ${id}`, "unknown", "retry: 7"],
          ...data.map((line) => `data: ${line}`),
          "",
        ]);
        const bytes = Buffer.from(stream.map((line) => line + end).join(""));
        const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((to, i) => bytes.subarray(at[i], to));

        const body = new ReadableStream<Uint8Array>({
          start(controller) {
            for (const piece of pieces) controller.enqueue(piece);
            controller.close();
          },
        });
        const read = [];
        for await (const one of readEvents(body, () => {})) read.push(one);

        expect(read.map(({ event, data, id, retry }) => ({ event, data, id, retry }))).to.deep.equal(
          events.map(({ type, data, id }) => ({ event: type, data: data.join("\n"), id, retry: "7" })),
        );
      }),
    );
  });
});

async function untilCancelled({ requests }: ChannelServer): Promise<void> {
  await eventually(() => requests.every(({ cancelled }) => cancelled), "the connection to be closed");
}

describe("signalbox/client watchJob()", () => {
  const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;
  const job = {
    jobId: "j",
    status: "running",
    progress: 10,
    message: null,
    createdAt: at(0),
    updatedAt: at(1),
    output: null,
  };
  const step = {
    stepId: "s1",
    stepKey: "s",
    status: "running",
    progress: 20,
    updatedAt: at(1),
    output: { kept: true },
  };

  /** Watches a job on a server that returns these reads in turn, and these events over one connection. */
  async function scripted(reads: object[], events: string): Promise<{ states: WatchedJob[]; error: unknown }> {
    const left = [...reads];
    const server = await startChannelServer((response, request) =>
      (request.path.endsWith("/events") ? streams(events) : answers(200, left.shift()))(response, request),
    );
    const client = createClient({ url: server.url });
    const states: WatchedJob[] = [];
    let error: unknown;
    try {
      for await (const state of client.watchJob("j")) states.push(state);
    } catch (thrown) {
      error = thrown;
    }
    await server.close();
    return { states, error };
  }
  const ended = { ...job, status: "completed", progress: 100, output: { ok: true }, updatedAt: at(9), steps: [] };

  it("reads the job when the stream is live, applies newer events, and ends with the output", async () => {
    const events = [
      live,
      event("job", { ...job, updatedAt: at(0), progress: 1 }),
      event("job", { ...job, updatedAt: at(2), progress: 30, message: "on" }),
      event("step", { ...step, updatedAt: at(0), progress: 0 }),
      event("step", { ...step, updatedAt: at(2), progress: 50 }),
      event("step", { ...step, stepId: "s2", updatedAt: at(3) }),
      event("job", { ...job, updatedAt: at(9), status: "completed", progress: 100 }),
    ].join("");

    const { states } = await scripted([{ ...job, steps: [step] }, ended], events);

    expect(states.map(({ progress, message, status }) => [progress, message, status])).to.deep.equal([
      [10, null, "running"],
      [30, "on", "running"],
      [30, "on", "running"],
      [30, "on", "running"],
      [100, null, "completed"],
    ]);
    expect(states[2]?.steps[0])
      .to.include({ progress: 50 })
      .and.to.have.property("output")
      .that.deep.equals({ kept: true });
    expect(states[3]?.steps.map(({ stepId }) => stepId)).to.deep.equal(["s1", "s2"]);
    expect(states.at(-1)?.output).to.deep.equal({ ok: true });
  });

  it("reads the job again on reload, and when it was deleted and created again", async () => {
    const events = `${live}${event("reload", { reason: "gap" })}${event("job", { ...job, createdAt: at(5), updatedAt: at(5) })}`;

    const { states } = await scripted([{ ...job, steps: [] }, { ...job, progress: 20, steps: [] }, ended], events);

    expect(states.map(({ progress }) => progress)).to.deep.equal([10, 20, 100]);
  });

  it("throws job_not_found when the job is deleted", async () => {
    const { states, error } = await scripted([{ ...job, steps: [] }], live + event("job_removed", { jobId: "j" }));

    expect(states).to.have.length(1);
    expect(error).to.include({ status: 404, code: "job_not_found" });
  });

  describe("with the real service", () => {
    useShortBackoff();
    const app = useSharedApp();

    it("yields a job from its creation to its end, and its progress never decreases", async () => {
      const client = createClient({ url: app.url });
      const job = client.job(`a/${randomUUID()}`);
      await job.create();
      const states: WatchedJob[] = [];
      const seen = (async () => {
        for await (const state of client.watchJob(job.jobId)) states.push(state);
      })();

      for (const [key, from, to] of [
        ["a", 0, 50],
        ["b", 50, 100],
      ] as const)
        await job.step(key, { name: key, from, to }).run(async (step) => {
          step.progress(50, `half of ${key}`);
          await step.flush();
          return { key };
        });
      await seen;

      const last = states.at(-1);
      expect(last).to.deep.include({ status: "completed", progress: 100, output: { key: "b" } });
      expect(last?.steps.map(({ status }) => status)).to.deep.equal(["completed", "completed"]);
      const progress = states.map(({ progress }) => progress);
      expect(progress).to.deep.equal([...progress].sort((a, b) => a - b));
      await client.close();
    });

    it("lets watch() yield the creation and the removal of jobs that match the filter", async () => {
      const client = createClient({ url: app.url });
      const events = client.watch({ topics: ["jobs"], filter: { metadata: { team: "watched" } } });
      const nextOf = async (jobId: string) => {
        for (;;) {
          const [event] = (await take(events, 1)) as [LiveEvent & { type: "job" }];
          if (event.data.jobId === jobId || event.type === "job") return event;
        }
      };
      const [first] = await take(events, 1);
      const [other, job] = [client.job(randomUUID()), client.job(randomUUID())];
      await other.create({ metadata: { team: "other" } });

      await job.create({ metadata: { team: "watched" }, name: "Mine" });
      const created = await nextOf(job.jobId);
      await client.jobs.delete(job.jobId);
      const removed = await nextOf(job.jobId);

      expect(first).to.deep.equal({ type: "state", data: { live: true } });
      expect(created.data).to.include({ jobId: job.jobId, name: "Mine", progress: 0 });
      expect(removed).to.deep.equal({ type: "job_removed", data: { jobId: job.jobId } });
      await client.close();
    });

    it("continues after a restart of the service", async () => {
      const service = await RestartingApp.start();
      const client = createClient({ url: service.url });
      const job = client.job(randomUUID());
      await job.create();
      const states = client.watchJob(job.jobId);
      await states.next();

      await service.restart();
      await job.complete({ output: { ok: true } });
      const seen: WatchedJob[] = [];
      for await (const state of states) seen.push(state);

      expect(seen.at(-1)).to.deep.include({ status: "completed", output: { ok: true } });
      await client.close();
      await service.close();
    });
  });
});
