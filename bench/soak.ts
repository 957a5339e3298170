/**
 * `npm run soak`: sends mixed requests at a fixed rate to a web process and two workers, whether or not earlier ones are
 * answered. At the end it looks for the effect of every accepted request.
 *
 *   --minutes N   duration (20)
 *   --rate N      requests a second (50)
 *   --seed N      seed of the order of the requests (1)
 *
 * Exits with 1 when an effect is missing or an answer is wrong. From ten minutes on it also exits with 1 when the memory of a
 * process grows, or latency does.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Lifecycle } from "../src/shared/process/lifecycle.ts";
import { eventually } from "../test/support/eventually.ts";
import { answers, type ChannelServer, startChannelServer } from "../test/support/servers/channelServer.ts";
import { keepDataOnDisk } from "../test/support/servers/servers.ts";
import { MIX, type Mix } from "./mix.ts";
import { ASK, type Holding } from "./probe.ts";
import { type Latencies, Sender } from "./sender.ts";
import { type Process, type Signalbox, startMongo, startSignalbox } from "./services.ts";
import { grows, median, trendOf } from "./statistics.ts";

interface Options {
  readonly minutes: number;
  readonly rate: number;
  readonly seed: number;
}

/** The figures of one minute, or of a tenth of a shorter soak. */
interface Row extends Latencies {
  readonly minutes: number;
  /** The memory of each process at the start of the row. */
  readonly memory: readonly Holding[];
}

const PROCESSES = ["web", "worker 1", "worker 2"] as const;
const MIN_ROWS = 10;
const CONCLUSIVE_MINUTES = 10;
/** Allowed growth of memory over the second half. */
const ALLOWED_BYTES = 4 * 1024 * 1024;
/** Maximum p99 of the last quarter relative to the second. */
const ALLOWED_RATIO = 1.5;
const EFFECTS_TIMEOUT_MS = 120_000;
/** Polling interval while the last effects are waited for. */
const POLL_EVERY_MS = 500;
const MIB = 1024 * 1024;
const COLUMNS = [6, 10, 9, 9, 18, 18, 18];

const lifecycle = new Lifecycle();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, async () => {
    await lifecycle.close();
    process.exit(1);
  });
}

try {
  process.exitCode = (await soak(soakOptions(process.argv.slice(2)))) ? 0 : 1;
} catch (error) {
  console.error(`The soak failed: ${(error as Error).message}`);
  process.exitCode = 1;
}
await lifecycle.close((name, error) => console.error(`${name} did not close well`, error));

/** @throws Error that describes the mistake in the command line */
function soakOptions(args: readonly string[]): Options {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ args: [...args], options: { minutes: text, rate: text, seed: text } });
  const options = {
    minutes: Number(values.minutes ?? 20),
    rate: Number(values.rate ?? 50),
    seed: Number(values.seed ?? 1),
  };
  for (const [name, value] of Object.entries(options)) {
    if (!(value > 0)) throw new Error(`--${name} is a number above 0, not ${values[name as keyof Options]}`);
  }
  return options;
}

/** Returns whether every effect exists and nothing grows. */
async function soak(options: Options): Promise<boolean> {
  keepDataOnDisk();
  const posts = new Set<string>();
  const system = await startSystem(posts);
  const sender = new Sender(system.url, options.seed);
  console.log(
    `${options.rate} requests a second for ${options.minutes} minutes, seed ${options.seed}. Latencies in ms`,
  );
  console.log(
    "count from the moment when a request was due. Memory in MiB after a collection: heap and buffers / RSS.\n",
  );
  console.log(line(["min", "requests", "p50", "p99", ...PROCESSES]));
  const rows: Row[] = [];
  const each = Math.min(1, options.minutes / MIN_ROWS);
  for (let row = 1; row * each <= options.minutes + 1e-9; row++) {
    const memory = Promise.all([system.web, ...system.workers].map(holdingOf));
    await sender.sendAt(options.rate, each * 60);
    rows.push({ minutes: row * each, ...sender.takeLatencies(), memory: await memory });
    console.log(rowLine(rows.at(-1)!));
  }
  await sender.end();
  const missing = await missingEffects(system, sender.mix, posts);
  console.log(`\n${["Errors", ...sender.faults].join("\n  ")}: ${sender.errors}`);
  console.log(missing.length === 0 ? "Every accepted request had its effect." : `MISSING: ${missing.join("; ")}`);
  const isSteady = judge(rows);
  const isConclusive = options.minutes >= CONCLUSIVE_MINUTES;
  if (!isConclusive) console.log(`Memory and latency are judged from ${CONCLUSIVE_MINUTES} minutes on.`);
  return missing.length === 0 && sender.errors === 0 && (isSteady || !isConclusive);
}

/** Starts web, two workers and a chat service. */
async function startSystem(posts: Set<string>): Promise<Signalbox & { workers: Process[] }> {
  const mongodb = await startMongo(lifecycle, "single");
  const channel = await startChannel(posts);
  lifecycle.onClose("channel", channel.close);
  const transformsDir = mkdtempSync(join(tmpdir(), "signalbox-soak-"));
  lifecycle.onClose("transforms", async () => rmSync(transformsDir, { recursive: true }));
  writeFileSync(join(transformsDir, "mixed.js"), "export default ({ payload }) => ({ message: payload.text });");
  writeFileSync(join(transformsDir, "package.json"), '{ "type": "module" }');
  const config = {
    server: { apiToken: MIX.apiToken },
    hooks: {
      enabled: true,
      token: MIX.hookToken,
      transformsDir,
      mappings: [
        { match: { path: "mixed" }, transform: { module: "mixed.js" }, deliver: false },
        { match: { path: "small" }, maxBodyBytes: MIX.smallBodyBytes, deliver: false },
      ],
    },
    agents: { defaults: { runner: "echo" } },
    channels: { mattermost: { apiUrl: channel.url, botToken: "bench" } },
  };
  const execArgv = ["--expose-gc", "--import", new URL("./probe.ts", import.meta.url).href];
  const system = await startSignalbox(lifecycle, { mongodb: mongodb("soak"), config, execArgv });
  return { ...system, workers: [await system.startWorker(), await system.startWorker()] };
}

/** Starts a chat service that adds the keys of the messages to `posts`. */
function startChannel(posts: Set<string>): Promise<ChannelServer> {
  const started = startChannelServer((response, request) => {
    const { pending_post_id: key, channel_id: channel, message } = request.body;
    posts.add(key);
    void started.then(({ requests }) => requests.splice(0)); // Nothing reads the recorded requests.
    return answers(201, { id: MIX.recipient, channel_id: channel, message, pending_post_id: key })(response, request);
  });
  return started;
}

async function holdingOf({ process: child, nextMessage }: Process): Promise<Holding> {
  child.send(ASK);
  return ((await nextMessage()) as { holding: Holding }).holding;
}

/** Waits for the effects of all accepted requests. Returns descriptions of those that are missing after two minutes. */
async function missingEffects({ url, database }: Signalbox, mix: Mix, posts: Set<string>): Promise<string[]> {
  // Wakes wait for the next turn of the main session, which this one triggers.
  const headers = { Authorization: `Bearer ${MIX.hookToken}`, "Content-Type": "application/json" };
  await fetch(`${url}/hooks/wake`, { method: "POST", headers, body: '{"text":"end"}' });
  const count = (name: string, filter: object) => database.collection(name).countDocuments(filter);
  const { runs, deliveries, wakes } = mix.accepted;
  let missing: string[] = [];
  const isComplete = async () => {
    const counted = [
      ["runs completed", await count("runs", { status: "completed" }), runs],
      ["deliveries sent", await count("deliveries", { state: "sent" }), deliveries],
      ["messages at the chat service", posts.size, deliveries],
      ["wakes", await count("events", { source: { $regex: "wake" }, waiting: false }), wakes],
    ] as const;
    missing = counted.flatMap(([what, is, least]) => (is >= least ? [] : [`${what}: ${is} of ${least}`]));
    return missing.length === 0;
  };
  await eventually(isComplete, "the effects", EFFECTS_TIMEOUT_MS, POLL_EVERY_MS).catch(() => {});
  for (const [jobId, progress] of mix.jobs()) {
    const response = await fetch(`${url}/api/jobs/${jobId}`, {
      headers: { Authorization: `Bearer ${MIX.apiToken}` },
    });
    const job = (await response.json()) as { progress?: number; status?: string };
    const isDone = response.ok && (job.progress ?? 0) >= progress && (progress < 100 || job.status === "completed");
    if (!isDone) missing.push(`job ${jobId}, answered at ${progress}: ${JSON.stringify(job)}`);
  }
  return missing;
}

/** Prints the trends of memory and latency, and returns whether neither grows. */
function judge(rows: readonly Row[]): boolean {
  const half = rows.slice(rows.length >> 1);
  const span = half.at(-1)!.minutes - half[0]!.minutes;
  const isGrowing = PROCESSES.map((name, i) => {
    const trend = trendOf(half.map(({ minutes, memory }) => [minutes, memory[i]!.held]));
    const kib = [trend.slope, 2 * trend.error].map((bytes) => (bytes / 1024).toFixed(1)).join(" ± ");
    const isTooMuch = grows(trend, span, ALLOWED_BYTES);
    console.log(`${name}: memory ${isTooMuch ? "GROWS" : "is flat"} (second half: ${kib} KiB a minute)`);
    return isTooMuch;
  });
  const quarter = rows.length / 4;
  const p99Of = (n: number) =>
    median(rows.slice(Math.floor(n * quarter), Math.floor((n + 1) * quarter)).map(({ p99 }) => p99));
  const ratio = p99Of(3) / p99Of(1);
  console.log(`p99 of the last quarter divided by that of the second: ${ratio.toFixed(2)}; at most ${ALLOWED_RATIO}`);
  return !isGrowing.includes(true) && ratio <= ALLOWED_RATIO;
}

function line(cells: readonly string[]): string {
  return cells.map((cell, i) => cell.padStart(COLUMNS[i]!)).join("");
}

function rowLine({ minutes, answered, p50, p99, memory }: Row): string {
  const sizes = memory.map(({ held, resident }) => `${(held / MIB).toFixed(1)} / ${(resident / MIB).toFixed(0)}`);
  return line([minutes.toFixed(1), String(answered), p50.toFixed(1), p99.toFixed(1), ...sizes]);
}
