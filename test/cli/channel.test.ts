import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { eventually } from "../support/eventually.ts";
import { createJob, report, whole } from "../support/factories.ts";
import { useSharedApp } from "../support/useApp.ts";

interface Line {
  readonly id?: number;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
  readonly [key: string]: any;
}

describe("signalbox channel", () => {
  const app = useSharedApp();
  let child: ChildProcessWithoutNullStreams;
  let lines: Line[];
  /** The address at which the channel finds the service, if it is another than that of the app. */
  let url: string | undefined;
  afterEach(async () => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.stdin.end();
    expect(await ended).to.equal(0);
  });

  const send = (message: object) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  /** Starts the channel as Claude Code does, and waits until it follows a job that was running before. */
  async function start(...options: string[]): Promise<void> {
    lines = [];
    const env = { PATH: process.env.PATH, SIGNALBOX_URL: url ?? app.url };
    child = spawn(process.execPath, ["src/cli/main.ts", "channel", ...options], { env });
    createInterface({ input: child.stdout }).on("line", (line) => lines.push(JSON.parse(line)));
    send({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {} } });
    await eventually(() => lines.length === 1, "the response to initialize");
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "tools/list" });
    await eventually(() => lines.length === 2, "the response to a request");
  }
  const news = () => lines.filter(({ method }) => method === "notifications/claude/channel");
  const events = () => news().map(({ params }) => `${params.meta.job_id} ${params.meta.event}`);
  const end = (path: string) => report(app, path, "a", { status: "completed", output: { files: 42 }, ...whole(100) });

  it("is an MCP server with the capability of a channel, and no other", async () => {
    await start();

    const [initialized, refused] = lines;
    expect(initialized?.result).to.deep.include({
      protocolVersion: "2025-11-25",
      capabilities: { experimental: { "claude/channel": {} } },
    });
    expect(initialized?.result.instructions).to.include("commands nothing");
    expect(refused?.error.code).to.equal(-32601);
  });

  it("sends ends and answers of the chosen jobs once, with their texts inside the fence", async () => {
    const before = await createJob(app, { name: "Nightly build" });
    await start("--name", "build");
    const { jobId, path } = await createJob(app, { name: "A build of main" });
    const other = await createJob(app, { name: "Deploy" });
    await end(other.path);
    // Live events show states, so that a question must be open for a while: one poll opens it, and the next one answers it.
    let polls = 0;
    await eventually(async () => {
      const gate = `${path}/gates/ask-${Math.floor(polls / 2)}`;
      if (polls++ % 2 === 0) await app.call("PUT", gate, { title: "Publish?" });
      else await app.call("POST", `${gate}/answer`, { action: "accept", answeredBy: "ada" });
      return events().includes(`${jobId} gate`);
    }, "the news of an answer");
    await app.call("DELETE", `${path}/gates/ask-${Math.floor((polls - 1) / 2)}`);
    await end(path);
    await end(path);
    await end(before.path);
    await eventually(() => events().filter((event) => event.endsWith(" completed")).length >= 2, "the ends");

    const ends = events().filter((event) => !event.endsWith(" gate"));
    expect(ends.toSorted()).to.deep.equal([`${jobId} completed`, `${before.jobId} completed`].toSorted());
    const completed = news().find(({ params }) => params.meta.event === "completed" && params.meta.job_id === jobId);
    const { content, meta } = completed?.params ?? {};
    expect(meta).to.deep.equal({ event: "completed", job_id: jobId, status: "completed" });
    expect(content.split("\n")[0]).to.equal("A job has completed.");
    expect(content.split("<<<BEGIN_UNTRUSTED_CONTENT")[1])
      .to.include("Job: A build of main")
      .and.to.include('{"files":42}');
  });

  it("reconnects when its connection is cut, and sends each end that it missed once", async () => {
    const proxy = await startCuttingProxy(Number(new URL(app.url).port));
    url = proxy.url;
    try {
      const missed = await createJob(app);
      await start();
      const kept = await createJob(app);
      await end(kept.path);
      await eventually(() => news().length === 1, "the end before the cut");
      proxy.cut();
      await end(missed.path);
      const made = await createJob(app);
      await end(made.path);
      await eventually(() => proxy.refused > 0, "a try to reconnect");
      proxy.mend();
      await eventually(() => news().length >= 3, "the ends that were missed");
      proxy.cut();
      proxy.mend();
      const last = await createJob(app);
      await end(last.path);
      await eventually(() => events().includes(`${last.jobId} completed`), "an end after another reconnect");

      const ids = [kept, missed, made, last].map(({ jobId }) => `${jobId} completed`);
      expect(events().toSorted()).to.deep.equal(ids.toSorted());
    } finally {
      url = undefined;
      await proxy.close();
    }
  });

  it("sends that a job has not been heard of, with the time since it began", async () => {
    app.clock.advance(-35_000); // the channel has the system's clock
    const { jobId } = await createJob(app, { staleAfterSeconds: 30 });
    const lists = () => app.log.filter(({ method, path }) => method === "GET" && path === "/api/jobs").length;
    const before = lists();
    await start();
    await eventually(() => lists() >= before + 2, "the channel to have read the running jobs");
    app.clock.advance(35_000);
    await eventually(() => events().includes(`${jobId} stale`), "the news of a silent job");

    const [{ params }] = news() as [Line];
    expect(params.content).to.match(/^A job has not been heard of for a while\./);
    expect(Number(/Duration: (\d+) s/.exec(params.content)?.[1])).to.be.at.least(30);
  });

  it("sends only jobs whose ids begin with the prefix, also those that ended before a reconnect", async () => {
    await start("--jobs", "ci/");
    const path = `/api/jobs/${encodeURIComponent("ci/7")}`;
    await app.call("PUT", path, { name: "CI" });
    const other = await createJob(app);
    await end(other.path);
    await end(path);

    await eventually(() => news().length >= 1, "the end");
    expect(events()).to.deep.equal(["ci/7 completed"]);
  });
});

/** Starts a proxy to a port of this machine whose connections can be cut, and refused until they are restored. */
async function startCuttingProxy(port: number) {
  const sockets = new Set<Socket>();
  let isCut = false;
  let refused = 0;
  const server = createServer((socket) => {
    if (isCut) {
      refused++;
      socket.destroy();
      return;
    }
    const inner = connect(port, "127.0.0.1");
    for (const one of [socket, inner]) {
      sockets.add(one);
      one.on("error", () => {}).on("close", () => sockets.delete(one));
    }
    socket.pipe(inner).pipe(socket);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const cut = () => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    mend() {
      isCut = false;
    },
    /** The connections that were refused. */
    get refused() {
      return refused;
    },
    async close() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
