import { randomUUID } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { StartError } from "../../shared/process/lifecycle.ts";
import { signalGroup } from "../../shared/process/processGroup.ts";
import { makePrivateDir, writePrivateFile } from "../configFile/privateFile.ts";
import { processIdentity } from "./processInfo.ts";

interface ProcessRef {
  readonly pid: number;
  /** Distinguishes the process from others with the same id; see processIdentity. */
  readonly identity: string | undefined;
}

interface Owner extends ProcessRef {
  /** Differs for each acquisition. */
  readonly id: string;
  readonly url?: string;
  readonly stopping?: true;
  /** When the owner started. ISO 8601. */
  readonly startedAt: string;
  /** The outcome of the latest reload of the configuration: its number since the start, and why it was refused. */
  readonly reloaded?: { readonly count: number; readonly problem?: string };
  /** The processes that the owner has started. Each leads a process group. */
  readonly children: readonly ProcessRef[];
}

/**
 * How long to wait for an owner that has not marked itself as stopping: the process above it may just have been killed, so
 * that it notices soon.
 */
const NOT_STOPPING_WAIT_MS = 1_500;
/** How long to wait for an owner that is stopping. */
const STOPPING_WAIT_MS = 60_000;
/** How long to wait for the children of a killed owner before they are killed too. */
const LEFTOVER_WAIT_MS = 10_000;
/** How long a lock that replaces an abandoned one is watched before it counts. Comparing and removing takes microseconds. */
const CONFIRM_AFTER_MS = 100;

/**
 * The exclusive right to use a data directory. The file instance.json in it names the owner and the processes that it has
 * started, so that a start after a kill -9 can end what the killed owner left.
 */
export class DataDirectoryLock {
  readonly dataDir: string;
  #owner: Owner;

  private constructor(dataDir: string) {
    this.dataDir = dataDir;
    this.#owner = { ...identify(process.pid), id: randomUUID(), startedAt: new Date().toISOString(), children: [] };
  }

  /**
   * Acquires the lock, and creates the directory if it is missing. Waits for an earlier owner that is stopping.
   * @throws StartError if another instance runs in the directory, or it cannot be written
   */
  static async acquire(dataDir: string): Promise<DataDirectoryLock> {
    const lock = new DataDirectoryLock(dataDir);
    try {
      makePrivateDir(dataDir);
      if (lock.#create()) return lock;
      do await releaseAbandoned(dataDir);
      while (!(lock.#create() && (await lock.#isConfirmed())));
    } catch (error) {
      if (error instanceof StartError) throw error;
      const { code } = error as NodeJS.ErrnoException;
      throw new StartError(
        `The data directory ${dataDir} cannot be used (${code}): make it writable, or set SIGNALBOX_DATA_DIR to another one.`,
      );
    }
    return lock;
  }

  /** Records a process that the owner has started. */
  addChild(pid: number): void {
    const running = this.#owner.children.filter(isRunning);
    this.#save({ ...this.#owner, children: [...running, identify(pid)] });
  }

  /** Records the address of the API, once it is ready. */
  setUrl(url: string): void {
    this.#save({ ...this.#owner, url });
  }

  /** Records the outcome of a reload. @param problem why the previous configuration stays in effect */
  setReloaded(problem: string | undefined): void {
    const count = (this.#owner.reloaded?.count ?? 0) + 1;
    this.#save({ ...this.#owner, reloaded: { count, ...(problem !== undefined && { problem }) } });
  }

  markStopping(): void {
    this.#save({ ...this.#owner, stopping: true });
  }

  release(): void {
    rmSync(lockFile(this.dataDir), { force: true });
  }

  #create(): boolean {
    return writePrivateFile(lockFile(this.dataDir), JSON.stringify(this.#owner), { replace: false });
  }

  /** Returns whether the file is still this one's after a moment, in which another start may remove an abandoned one late. */
  async #isConfirmed(): Promise<boolean> {
    await delay(CONFIRM_AFTER_MS);
    return readOwner(this.dataDir)?.id === this.#owner.id;
  }

  #save(owner: Owner): void {
    this.#owner = owner;
    writePrivateFile(lockFile(this.dataDir), JSON.stringify(owner), { replace: true });
  }
}

interface RunningInstance {
  /** The process that handles signals. */
  readonly pid: number;
  /** The address of its API, once that is ready. */
  readonly url?: string | undefined;
  readonly startedAt: string;
  readonly reloaded?: Owner["reloaded"];
}

/** Returns the instance that runs in a data directory, if there is one. */
export function findRunningInstance(dataDir: string): RunningInstance | undefined {
  const owner = readOwner(dataDir);
  return owner && isRunning(owner) ? owner : undefined;
}

const lockFile = (dataDir: string) => join(dataDir, "instance.json");
const identify = (pid: number): ProcessRef => ({ pid, identity: processIdentity(pid) });
const isRunning = ({ pid, identity }: ProcessRef) => identity !== undefined && processIdentity(pid) === identity;

function readOwner(dataDir: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(lockFile(dataDir), "utf8")) as Owner;
  } catch {
    return undefined; // the file is missing, or a crash of the system truncated it
  }
}

/**
 * Waits until the owner of the lock and all its children have ended, and removes the lock.
 * @throws StartError if the owner keeps running
 */
async function releaseAbandoned(dataDir: string): Promise<void> {
  const since = Date.now();
  let owner = readOwner(dataDir);
  while (owner && isRunning(owner)) {
    if (Date.now() - since > (owner.stopping ? STOPPING_WAIT_MS : NOT_STOPPING_WAIT_MS)) {
      throw new StartError(
        `The data directory ${dataDir} is in use by another instance (process ${owner.pid}${owner.url ? `, ${owner.url}` : ""}): stop that instance, or set SIGNALBOX_DATA_DIR to another directory.`,
      );
    }
    await delay(50);
    owner = readOwner(dataDir);
  }
  await endLeftovers(owner?.children ?? []);
  // another start may have waited for the same processes, and own the directory by now
  if (readOwner(dataDir)?.id === owner?.id) rmSync(lockFile(dataDir), { force: true });
}

/** Waits for processes that end by themselves once their owner has ended, and kills those that do not. */
async function endLeftovers(leftovers: readonly ProcessRef[]): Promise<void> {
  const deadline = Date.now() + LEFTOVER_WAIT_MS;
  while (leftovers.some(isRunning) && Date.now() < deadline) await delay(50);
  for (const leftover of leftovers.filter(isRunning)) signalGroup(leftover.pid, "SIGKILL");
}
