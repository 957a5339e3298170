import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareDatabase } from "../../../src/cli/commands/service/release.ts";
import { NOTIFICATION_TYPES } from "../../../src/shared/notifications/catalogue.ts";
import type { Lifecycle } from "../../../src/shared/process/lifecycle.ts";
import { TIMINGS, type Timings } from "../../../src/shared/timings.ts";
import { type Service, startProcess } from "../../support/process.ts";
import { freePort, startRedis, type TestServer } from "../../support/servers/servers.ts";
import type { Topology } from "../plan.ts";
import type { Random } from "../random.ts";
import { type MongoDb, startMongoDb } from "./mongodb.ts";
import { type FaultProxy, startProxy } from "./proxy.ts";
import { GONE_RULE, MAIN_PROMPT, MAX_POST_LENGTH, type Services, startServices, wakeText } from "./services.ts";
import { type Supervised, supervise } from "./supervised.ts";

export const TOKEN = "a-hook-token-of-length";
const PROCESS = "test/faults/system/process.mjs";

/** The events that are notified: those that a step of the plan causes. */
const NOTIFIED = NOTIFICATION_TYPES.filter((type) => type !== "job.missing" && type !== "job.slow");

/** The service's processes: their numbers and their modules. */
export interface Processes {
  readonly webs: number;
  readonly workers: number;
  readonly web: string;
  readonly worker: string;
  /** The interval of the main session's heartbeat. */
  readonly heartbeat: string;
  /** How often the workers look for what Redis has lost, and how old it is then at least. */
  readonly sweep: Timings["sweep"];
}

/** The processes as an operator runs them. */
export const PRODUCTION_PROCESSES: Processes = {
  webs: 2,
  workers: 3,
  heartbeat: "15s",
  sweep: TIMINGS.sweep,
  web: "src/api/main.ts",
  worker: "src/workers/main.ts",
};

/** A running system: the service's processes, their servers behind proxies, and the external services. */
export interface System {
  readonly webs: readonly Supervised[];
  readonly workers: readonly Supervised[];
  /** The URLs of the web processes, which never change. */
  readonly urls: readonly string[];
  readonly redis: { readonly server: TestServer; readonly proxy: FaultProxy };
  readonly mongodb: MongoDb;
  readonly services: Services;
  /** Messages of the service's processes that exited by themselves. */
  readonly crashes: string[];
}

/** @param open collects the close functions, so that the caller can close everything even after an error */
export async function startSystem(
  topology: Topology,
  processes: Processes,
  random: Random,
  open: Lifecycle,
): Promise<System> {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-fault-suite-"));
  open.onClose("directory", async () => rmSync(dir, { recursive: true }));
  const services = await startServices(random);
  open.onClose("services", services.close);
  const server = await startRedis();
  open.onClose("redis-server", server.remove);
  const redis = { server, proxy: await startProxy(server.port) };
  open.onClose("proxy", redis.proxy.close);
  const mongodb = await startMongoDb(topology, open);
  await prepareDatabase(mongodb.uri);
  const env = {
    MONGODB_URI: mongodb.uri,
    REDIS_URL: `redis://127.0.0.1:${redis.proxy.port}`,
    SIGNALBOX_CONFIG: writeConfig(dir, services, processes.heartbeat),
    LOG_LEVEL: "error",
  };
  const crashes: string[] = [];
  const run = async (name: string, start: () => Service) => {
    const supervised = supervise(name, start, (message) => crashes.push(message));
    open.onClose(name, supervised.close);
    await supervised.isReady;
    return supervised;
  };
  const ports = await Promise.all(Array.from({ length: processes.webs }, freePort));
  const webs = ports.map((port, i) =>
    run(`web ${i + 1}`, () => startProcess(PROCESS, { ...env, PORT: String(port) }, [processes.web])),
  );
  const workers = Array.from({ length: processes.workers }, (_, i) =>
    run(`worker ${i + 1}`, () => startProcess(PROCESS, env, [processes.worker])),
  );
  return {
    webs: await Promise.all(webs),
    workers: await Promise.all(workers),
    redis,
    mongodb,
    services,
    crashes,
    urls: ports.map((port) => `http://127.0.0.1:${port}`),
  };
}

/** Writes the configuration and returns its path. */
function writeConfig(dir: string, services: Services, every: string): string {
  const { modelUrl, mattermostUrl, telegramUrl, receiverUrl, goneUrl, flakyUrl } = services;
  const secret = `whsec_${Buffer.alloc(32).toString("base64")}`;
  const mapped = (channel: string) => ({
    match: { path: `mapped/${channel}` },
    sessionKey: "{{session}}",
    messageTemplate: "Look at {{mark}}.",
    channel,
    to: "{{to}}",
  });
  const config = {
    hooks: {
      enabled: true,
      token: TOKEN,
      shareSessions: true, // Every hook of the attack names its session.
      transformsDir: dir,
      mappings: [
        mapped("mattermost"),
        mapped("telegram"),
        {
          match: { path: "items" },
          forEach: "items",
          messageTemplate: "Look at {{item}}.",
          deliver: false,
          wakeMode: "next-heartbeat",
          transform: { module: "keep.mjs" },
        },
        { match: { path: "event" }, action: "wake", textTemplate: wakeText("{{mark}}") },
      ],
    },
    agents: {
      defaults: { runner: "openai", model: "small", heartbeat: { every, prompt: MAIN_PROMPT } },
      runners: { openai: { baseUrl: modelUrl } },
    },
    channels: {
      mattermost: { apiUrl: mattermostUrl, botToken: "t", maxPostLength: MAX_POST_LENGTH },
      telegram: { apiUrl: telegramUrl, botToken: "1:t" },
    },
    notify: [
      { id: "all", on: NOTIFIED, to: { webhook: { url: receiverUrl, secret } } },
      { id: "flaky", on: NOTIFIED, to: { webhook: { url: flakyUrl, secret } } },
      { id: GONE_RULE, on: ["gate.answered"], to: { webhook: { url: goneUrl, secret } } },
    ],
    session: { main: { channel: "telegram", to: "1" }, maxMessages: 6 },
  };
  writeFileSync(join(dir, "keep.mjs"), "export default async () => undefined;\n");
  const path = join(dir, "signalbox.json5");
  writeFileSync(path, JSON.stringify(config));
  return path;
}
