import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { StartError } from "../../../shared/process/lifecycle.ts";
import { spaceFault } from "../../doctor/freeSpace.ts";
import type { DataDirectoryLock } from "../dataDirectoryLock.ts";
import { commandLine } from "../processInfo.ts";
import { logSince, logSize, prepareLog } from "./log.ts";
import { freePort } from "./port.ts";
import { programPath } from "./program.ts";
import { type Server, spawnServer, waitForPort } from "./server.ts";

const REPLICA_SET = "signalbox";
/** Time limit of the start. It is long, because mongod recovers from its journal after a crash. */
const LISTENS_WITHIN_MS = 120_000;
const PRIMARY_WITHIN_MS = 15_000;
export const MONGOD_STOPS_WITHIN_MS = 20_000;
const LEFTOVER_MS = 10_000;

export interface Mongod {
  readonly uri: string;
  launch(signal: AbortSignal): Promise<Server>;
}

/**
 * Prepares a mongod with its data in <dataDir>/mongodb: a replica set of one member, on a port that stays the same as long
 * as it is free.
 * @throws StartError if there is no mongod program
 */
export async function embeddedMongod(lock: DataDirectoryLock): Promise<Mongod> {
  const { dataDir } = lock;
  const binary = await programPath("mongod", dataDir);
  const dbPath = join(dataDir, "mongodb");
  mkdirSync(dbPath, { recursive: true, mode: 0o700 });
  const port = await rememberedPort(join(dataDir, "mongodb.port"));
  const logPath = join(dataDir, "mongod.log");

  const launch = async (signal: AbortSignal, mayRetry = true): Promise<Server> => {
    prepareLog(logPath);
    const logStart = logSize(logPath);
    const server = spawnServer(binary, options(dbPath, port, logPath), MONGOD_STOPS_WITHIN_MS);
    lock.addChild(server.pid);
    const driver = import("../../../models/db/replicaSet.ts"); // takes as long to load as the server to start
    if (await waitForPort(port, server, LISTENS_WITHIN_MS, signal)) {
      const { ensureReplicaSet } = await driver;
      await ensureReplicaSet(REPLICA_SET, port, PRIMARY_WITHIN_MS).catch(async (error: Error) => {
        await server.stop();
        throw new StartError(
          spaceFault(dataDir) ?? `MongoDB does not accept writes (${error.message}): see ${logPath}.`,
        );
      });
      return server;
    }
    await server.stop();
    const log = logSince(logPath, logStart);
    const inUse = log.includes("DBPathInUse");
    if (inUse && mayRetry && !signal.aborted && (await endLeftover(dbPath))) return launch(signal, false);
    throw new StartError(explain(log, await server.exited, dataDir, logPath));
  };
  return { uri: `mongodb://127.0.0.1:${port}/signalbox?replicaSet=${REPLICA_SET}`, launch };
}

function options(dbPath: string, port: number, logPath: string): string[] {
  return [
    ["--dbpath", dbPath],
    ["--port", String(port)],
    ["--bind_ip", "127.0.0.1"],
    ["--nounixsocket"],
    ["--replSet", REPLICA_SET],
    ["--oplogSize", "256"],
    ["--wiredTigerCacheSizeGB", "0.25"],
    ["--logpath", logPath, "--logappend", "--quiet", "--slowms", "1000"],
    ["--setParameter", "diagnosticDataCollectionEnabled=false"],
    // The wait would give another member time to become primary, and there is none.
    ["--setParameter", "shutdownTimeoutMillisForSignaledShutdown=100"],
  ].flat();
}

/** Returns a port below the range for outgoing connections, so that it is likely free at the next start. */
const randomPort = () => 20_000 + Math.floor(Math.random() * 10_000);

async function rememberedPort(path: string): Promise<number> {
  let remembered: number | undefined;
  try {
    remembered = Number.parseInt(readFileSync(path, "utf8"), 10) || undefined;
  } catch {
    // This is the first start in this directory.
  }
  const port = await freePort(remembered ?? randomPort());
  writeFileSync(path, `${port}\n`, { mode: 0o600 });
  chmodSync(path, 0o600); // an existing file keeps its mode when it is written
  return port;
}

function explain(log: string, how: string, dataDir: string, logPath: string): string {
  if (log.includes("DBPathInUse")) {
    return `Another MongoDB uses the data in ${dataDir}: stop it, or set SIGNALBOX_DATA_DIR to another directory.`;
  }
  if (/UPGRADE PROBLEM|Invalid feature compatibility|unsupported WiredTiger file version/i.test(log)) {
    return `The data in ${dataDir} belongs to another version of MongoDB: start it with that version, or set SIGNALBOX_DATA_DIR to another directory.`;
  }
  if (/No space left|InsufficientFreeSpace/i.test(log)) {
    return `MongoDB has no space left for ${dataDir}: free some, or set SIGNALBOX_DATA_DIR to another directory.`;
  }
  return spaceFault(dataDir) ?? `MongoDB did not start (${how}): see ${logPath}.`;
}

/**
 * Waits for the end of a mongod that a killed instance left on this data, and kills it if it does not end.
 * @returns false if the mongod.lock belongs to another process
 */
async function endLeftover(dbPath: string): Promise<boolean> {
  const pid = Number.parseInt(readFileSync(join(dbPath, "mongod.lock"), "utf8"), 10);
  const isOurs = () => /mongod\b/.test(commandLine(pid)) && commandLine(pid).includes(` ${dbPath} `);
  if (!Number.isInteger(pid)) return false;
  const deadline = Date.now() + LEFTOVER_MS;
  if (!isOurs()) return commandLine(pid) === "";
  while (isOurs() && Date.now() < deadline) await delay(50);
  if (isOurs()) process.kill(pid, "SIGKILL");
  while (isOurs()) await delay(20);
  return true;
}
