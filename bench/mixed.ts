import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mongo } from "mongoose";
import type { Database } from "../src/models/db/database.ts";
import type { Lifecycle } from "../src/shared/process/lifecycle.ts";
import { eventually } from "../test/support/eventually.ts";
import { answers, type ChannelServer, startChannelServer } from "../test/support/servers/channelServer.ts";
import { redisUrl } from "../test/support/servers/servers.ts";
import { startChild } from "./child.ts";
import { MIX, type MixName } from "./mix.ts";
import type { MixedAnswer, MixedTask } from "./mixedLoad.ts";
import { databaseUri, open, PROBED, type Started, startApi, startWorker, type Web } from "./services.ts";

/** The whole service in processes of its own, with its load. */
export interface MixedSystem {
  readonly web: Web;
  readonly workers: readonly Started[];
  readonly database: Database;
  /** Returns the number of MongoDB's connections. */
  databaseConnections(): Promise<number>;
  /** The keys of the messages that the chat service has accepted. */
  readonly posts: ReadonlySet<string>;
  ask(task: MixedTask): Promise<MixedAnswer>;
  /** Waits until all accepted work is done. @throws Error after two minutes */
  settle(): Promise<void>;
}

/** Another database than that of services without workers, whose queues are cleared. */
const REDIS_DATABASE = 1;
const SETTLE_TIMEOUT_MS = 120_000;
const LOAD = new URL("./mixedLoad.ts", import.meta.url);

/**
 * Starts MongoDB, Redis, web, workers, a chat service and the load; `lifecycle` closes all of them.
 * @param execArgv options of Node for the web process
 */
export async function startMixed(
  lifecycle: Lifecycle,
  { workers: count, mix, seed }: { workers: number; mix: MixName; seed: number },
  execArgv: readonly string[] = PROBED,
): Promise<MixedSystem> {
  const posts = new Set<string>();
  const [uri, redisAt, channel] = await Promise.all([databaseUri("mixed"), redisUrl(), startChannel(posts)]);
  lifecycle.onClose("channel", channel.close);
  const database = await open(lifecycle, uri);
  await database.prepare();
  const client = await mongo.MongoClient.connect(uri);
  lifecycle.onClose("MongoDB", () => client.close());
  const config = writeConfig(channel.url);
  lifecycle.onClose("configuration", config.remove);

  const env = {
    MONGODB_URI: uri,
    REDIS_URL: `${redisAt}/${REDIS_DATABASE}`,
    SIGNALBOX_CONFIG: config.path,
    LOG_LEVEL: "warn",
  };
  const web = { ...(await startApi(lifecycle, env, execArgv)), token: MIX.apiToken };
  const workers = await Promise.all(Array.from({ length: count }, () => startWorker(lifecycle, env, PROBED)));
  const load = await startChild<true>(LOAD, {
    BENCH_URL: web.url,
    BENCH_MIX: mix,
    BENCH_SEED: String(seed),
  });
  lifecycle.onClose("load", load.stop);

  const { runs, events, deliveries } = database.collections;
  return {
    ...{ web, workers, database, posts },
    async databaseConnections() {
      const { connections } = await client.db("admin").command({ serverStatus: 1 });
      return Number(connections.current);
    },
    ask(task) {
      load.process.send(task);
      return load.nextMessage() as Promise<MixedAnswer>;
    },
    async settle() {
      const worked = async () =>
        (await runs.countDocuments({ settled: { $ne: true } })) + (await deliveries.countDocuments({ open: true })) ===
        0;
      await eventually(worked, "all runs and deliveries to end", SETTLE_TIMEOUT_MS);
      // Summaries wait for the next turn of the main session, which this hook triggers.
      const headers = { Authorization: `Bearer ${MIX.hookToken}`, "Content-Type": "application/json" };
      await fetch(`${web.url}/hooks/wake`, { method: "POST", headers, body: '{"text":"settle"}' });
      const isTaken = async () => (await events.countDocuments({ waiting: true })) === 0;
      await eventually(isTaken, "the main session to have taken all events", SETTLE_TIMEOUT_MS);
    },
  };
}

function startChannel(posts: Set<string>): Promise<ChannelServer> {
  const started = startChannelServer((response, request) => {
    const { pending_post_id: key, channel_id: channel, message } = request.body;
    posts.add(key);
    void started.then(({ requests }) => requests.splice(0)); // Nothing reads the recorded requests.
    return answers(201, { id: MIX.recipient, channel_id: channel, message, pending_post_id: key })(response, request);
  });
  return started;
}

/** Writes a configuration for the mix, with the echo runner. */
function writeConfig(channelUrl: string): { path: string; remove(): Promise<void> } {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-mixed-"));
  const path = join(dir, "signalbox.json5");
  const config = {
    server: { apiToken: MIX.apiToken },
    hooks: {
      ...{ enabled: true, token: MIX.hookToken, transformsDir: dir },
      mappings: [
        { match: { path: "mixed" }, transform: { module: "mixed.js" }, deliver: false },
        { match: { path: "small" }, maxBodyBytes: MIX.smallBodyBytes, deliver: false },
      ],
    },
    agents: { defaults: { runner: "echo" } },
    channels: { mattermost: { apiUrl: channelUrl, botToken: "bench" } },
  };
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  writeFileSync(join(dir, "mixed.js"), `export default ({ payload }) => ({ message: payload.text, wakeMode: "now" });`);
  writeFileSync(join(dir, "package.json"), '{ "type": "module" }');
  return { path, remove: async () => rmSync(dir, { recursive: true }) };
}
