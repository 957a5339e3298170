import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { connectDatabase } from "../../src/models/database.ts";
import { eventually } from "../support/eventually.ts";
import { type Service, startProcess } from "../support/process.ts";
import { mongoUri, redisUrl } from "../support/servers/servers.ts";

const SECRETS = {
  SIGNALBOX_API_TOKEN: "secret-of-the-api-0001",
  SIGNALBOX_READ_ONLY_TOKEN: "secret-of-readers-0002",
  SIGNALBOX_HOOKS_TOKEN: "secret-of-the-hooks-0003",
  SENDER_SECRET: "secret-of-a-sender-0004",
  BOT_TOKEN: "5:secret-of-a-bot-0005",
  MODEL_KEY: "secret-of-a-model-0006",
};

const FILE = `{
  hooks: { enabled: true, mappings: [{ match: { path: "ci" }, auth: { type: "github", secret: "\${SENDER_SECRET}" } }] },
  channels: { telegram: { botToken: "\${BOT_TOKEN}" } },
  agents: { runners: { openai: { apiKey: "\${MODEL_KEY}" } } },
}`;

/** Texts of requests that no log may contain. */
const CONTENT = "the-words-of-a-sender-0007";

/** Line separators and control characters of terminals. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test searches for them
const OBEYED = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

const run = promisify(execFile);

describe("the logs, metrics, errors and reports of a process", () => {
  let directory: string;
  let service: Service;
  let url: string;
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), "signalbox-logs-"));
    writeFileSync(join(directory, "signalbox.json5"), FILE);
    const uri = await mongoUri(`test-${randomUUID()}`);
    const database = await connectDatabase(uri);
    await database.prepare();
    await database.close();
    service = startProcess("src/api/main.ts", {
      MONGODB_URI: uri,
      REDIS_URL: await redisUrl(),
      LOG_LEVEL: "trace",
      ...SECRETS,
      SIGNALBOX_CONFIG: join(directory, "signalbox.json5"),
      NODE_OPTIONS: `--report-on-signal --report-directory=${directory}`,
    });
    ({ url } = await service.ready);
  });
  after(async () => {
    await service.stop("SIGKILL");
    rmSync(directory, { recursive: true });
  });

  /** Sends bytes unchanged and returns the response. */
  async function send(lines: readonly string[]): Promise<string> {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(Buffer.from(`${[...lines, "Host: localhost", "Connection: close"].join("\r\n")}\r\n\r\n`, "latin1"));
    return readAll(socket);
  }

  /** Returns its log up to the end of a request with a unique name. */
  async function logged(): Promise<string> {
    const id = randomUUID();
    await fetch(`${url}/healthz`, { headers: { "X-Request-Id": id } });
    await eventually(() => service.output().stdout.includes(id), "the log");
    return service.output().stdout;
  }

  it("have one line for each request, whatever its path and headers contain", async () => {
    const forged = '{"level":30,"msg":"forged"}';
    const paths = [`/api/jobs/a%0A${encodeURIComponent(forged)}`, "/\u009b2J\u0085forged", "/%1b[2J%e2%80%a8forged"];
    const before = (await logged()).trimEnd().split("\n").length;
    const answers: string[] = [];

    for (const path of paths) answers.push(await send([`GET ${path} HTTP/1.1`, `X-Request-Id: a ${forged}`]));
    for (const header of ["User-Agent", "X-Forwarded-For", "Referer"]) {
      answers.push(await send(["GET /api/jobs HTTP/1.1", `${header}: \u0085${forged}\u009b2J`]));
    }

    const lines = (await logged()).trimEnd().split("\n");
    const reached = answers.filter((answer) => /x-request-id/i.test(answer)); // Node's parser rejects one of the paths.
    expect(reached).to.have.length.of.at.least(5);
    expect(lines.length - before).to.equal(reached.length + 1);
    for (const line of lines) {
      expect(JSON.parse(line)).to.include({ process: "web" });
      expect(line)
        .to.not.match(OBEYED)
        .and.not.match(/"msg":"forged"/);
    }
  });

  it("contain no secret and nothing of a body", async () => {
    const own = Object.values(SECRETS);
    const body = JSON.stringify({ message: CONTENT, token: CONTENT, timeoutSeconds: "soon", [CONTENT]: 1 });
    const answers: string[] = [];

    for (const secret of [...own, CONTENT]) {
      for (const path of ["/api/jobs/a", "/hooks/agent", "/hooks/ci", "/session", "/nowhere", "/metrics"]) {
        for (const sent of [body, `{"${CONTENT}`]) {
          const headers = {
            Authorization: `Bearer ${secret}`,
            "X-Service-Token": secret,
            Cookie: `signalbox_session=${secret}`,
          };
          const typed = { ...headers, "Content-Type": "application/json", "X-Hub-Signature-256": `sha256=${secret}` };
          const answer = await fetch(`${url}${path}?token=${secret}`, { method: "POST", headers: typed, body: sent });
          answers.push(await answer.text());
        }
      }
    }
    const figures = await (await fetch(`${url}/metrics`)).text();

    const output = [await logged(), service.output().stderr, figures].join("\n");
    expect(figures).to.include("signalbox_refused_requests_total");
    for (const secret of own) {
      expect(output, "log or metrics").to.not.include(secret);
      expect(answers.join("\n"), "answers").to.not.include(secret);
    }
    expect(output).to.not.include(CONTENT);
  });

  it("contain no secret in Node's report of a crash", async () => {
    service.child.kill("SIGUSR2");
    const read = () => {
      const [name] = readdirSync(directory).filter((one) => one.startsWith("report."));
      const written = name ? readFileSync(join(directory, name), "utf8") : "";
      return written.trimEnd().endsWith("}") && written;
    };

    const report = await eventually(read, "the report");

    expect(JSON.parse(report).header.commandLine.join(" ")).to.include("src/api/main.ts");
    for (const secret of Object.values(SECRETS)) expect(report).to.not.include(secret);
  });

  /** Returns the output of a process that logs hostile texts, as JSON lines or for a terminal. */
  async function printed(pretty: boolean): Promise<string> {
    const hostile = "a\r\n[12:00:00.000] INFO: web: forged\u001b[2J\u009b2J\u0085\u2028\u202e\\u001b \\";
    const program = `
      import { createLogger } from ${JSON.stringify(pathToFileURL(resolve("src/shared/logger.ts")).href)};
      const log = createLogger({ level: "info", name: "web", pretty: ${pretty} });
      const hostile = ${JSON.stringify(hostile)};
      log.info({ path: hostile, nested: { name: [hostile] } }, "request");
      log.error({ err: new Error(hostile, { cause: new Error(hostile) }) }, "failed");
    `;
    return (await run(process.execPath, ["--input-type=module", "-e", program], { env: {} })).stdout;
  }

  it("have one line of JSON for each entry, whatever line separators it contains", async () => {
    const text = await printed(false);

    const lines = text.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).msg)).to.deep.equal(["request", "failed"]);
    expect(JSON.parse(lines[0] as string).path).to.include("\u009b2J\u0085\u2028\u202e\\u001b"); // The text is complete.
    expect(text).to.not.match(OBEYED);
  });

  it("at a terminal have one short line for each request", async () => {
    const program = `
      import { createLogger } from ${JSON.stringify(pathToFileURL(resolve("src/shared/logger.ts")).href)};
      const log = createLogger({ level: "info", name: "web", pretty: true });
      const request = { reqId: "7", method: "GET", path: "/api/jobs", status: 200, ms: 3.12 };
      log.info(request, "the request has ended");
      log.info({ ...request, status: 404, code: "job_not_found", aborted: true }, "the request has ended");
      log.info({ queue: "retention", completed: 2 }, "the queue job is done");
    `;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { env: {} });

    expect(stdout.replace(/^\[[\d:.]+\] /gm, "")).to.equal(
      'INFO: web: GET /api/jobs 200 3.12 ms\nINFO: web: GET /api/jobs 404 job_not_found 3.12 ms {"aborted":true}\n' +
        'INFO: web: the queue job is done {"queue":"retention","completed":2}\n',
    );
  });

  it("at a terminal show only what was slow or failed if a file has all of them", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "signalbox-logs-")), "service.log");
    const program = `
      import { createLogger } from ${JSON.stringify(pathToFileURL(resolve("src/shared/logger.ts")).href)};
      const log = createLogger({ level: "info", name: "web", pretty: true, file: ${JSON.stringify(file)} });
      const request = { method: "PUT", path: "/a", status: 200, ms: 3 };
      for (let i = 0; i < 25; i++) log.info(request, "the request has ended");
      log.info({ ...request, path: "/slow", ms: 1000 }, "the request has ended");
      log.info({ ...request, path: "/stream", ms: 60000, held: true }, "the request has ended");
      log.info({ ...request, path: "/refused", status: 400, code: "invalid_body" }, "the request has ended");
      log.info({ ...request, path: "/broken", status: 503, ms: 60000, held: true }, "the request has ended");
      log.info({ queue: "agent-hook", outcome: "done", ms: 60000 }, "the queue job is done");
      log.error({ queue: "agent-hook", outcome: "discard", ms: 6 }, "the queue job failed");
      log.warn({ nextTryAt: new Date() }, "The main session waits");
    `;
    const { stdout } = await run(process.execPath, ["--input-type=module", "-e", program], { env: {} });
    const stored = readFileSync(file, "utf8").trimEnd().split("\n");
    rmSync(dirname(file), { recursive: true });

    expect(
      stdout
        .replace(/^\[[\d:.]+\] /gm, "")
        .trimEnd()
        .split("\n"),
    ).to.deep.equal([
      "INFO: web: PUT /slow 200 1000 ms",
      "INFO: web: PUT /refused 400 invalid_body 3 ms",
      "INFO: web: PUT /broken 503 60000 ms",
      'ERROR: web: the queue job failed {"queue":"agent-hook","outcome":"discard","ms":6}',
      "WARN: web: The main session waits",
    ]);
    expect(stored).to.have.length(32);
  });

  it("at a terminal contain no control sequence, and no line that looks like the start of another entry", async () => {
    const text = await printed(true);

    const begun = text.split("\n").filter((line) => line.startsWith("["));
    expect(begun.map((line) => line.replace(/^\[.*?\] | \{.*| $/g, ""))).to.deep.equal([
      "INFO: web: request",
      "ERROR: web: failed",
    ]);
    expect(text).to.not.match(OBEYED);
    expect(text).to.include("\\\\u001b"); // A literal escape stays text.
  });
});
