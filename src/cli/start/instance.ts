import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { StartError } from "../../shared/lifecycle.ts";
import { makePrivateDir } from "../configFile/privateFile.ts";
import { killGroup } from "./embedded/server.ts";
import { processIdentity } from "./processInfo.ts";

interface Process {
  readonly pid: number;
  /** Process ids are used again; see processIdentity. */
  readonly identity: string | undefined;
}

interface Owner extends Process {
  readonly url?: string;
  readonly stopping?: true;
  /** What it has started; each leads a process group. */
  readonly children: readonly Process[];
}

/** An instance that has not said that it stops is given so long to say it: the one above it may just have been killed. */
const HESITATION_MS = 1_500;
const STOPPING_MS = 60_000;
const LEFTOVER_MS = 10_000;

/**
 * The data directory as this process holds it: instance.json in it says who runs there and what that has started, so
 * that a start after a kill -9 can clear away what the killed one left.
 */
export class Instance {
  readonly dataDir: string;
  #owner: Owner;

  private constructor(dataDir: string) {
    this.dataDir = dataDir;
    this.#owner = { ...identify(process.pid), children: [] };
  }

  /**
   * Takes the directory, making it when it is missing. Waits for an earlier instance that is on its way out.
   * @throws StartError when another instance runs in it, or it cannot be written
   */
  static async claim(dataDir: string): Promise<Instance> {
    const instance = new Instance(dataDir);
    try {
      makePrivateDir(dataDir);
      while (!instance.#create()) await vacate(dataDir);
    } catch (error) {
      if (error instanceof StartError) throw error;
      const { code } = error as NodeJS.ErrnoException;
      throw new StartError(
        `The data directory ${dataDir} cannot be used (${code}): make it writable, or name another in SIGNALBOX_DATA_DIR.`,
      );
    }
    return instance;
  }

  started(pid: number): void {
    const running = this.#owner.children.filter(isRunning);
    this.#save({ ...this.#owner, children: [...running, identify(pid)] });
  }

  ready(url: string): void {
    this.#save({ ...this.#owner, url });
  }

  stopping(): void {
    this.#save({ ...this.#owner, stopping: true });
  }

  release(): void {
    rmSync(file(this.dataDir), { force: true });
  }

  #create(): boolean {
    try {
      writeFileSync(file(this.dataDir), JSON.stringify(this.#owner), { flag: "wx", mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
  }

  #save(owner: Owner): void {
    this.#owner = owner;
    const temporary = `${file(this.dataDir)}.tmp`;
    writeFileSync(temporary, JSON.stringify(owner), { mode: 0o600 });
    renameSync(temporary, file(this.dataDir));
  }
}

/** Who runs in a data directory: the process that takes signals, and where its API is once that is up. */
export function findInstance(dataDir: string): { readonly pid: number; readonly url: string | undefined } | undefined {
  const owner = readOwner(dataDir);
  return owner && isRunning(owner) ? { pid: owner.pid, url: owner.url } : undefined;
}

const file = (dataDir: string) => join(dataDir, "instance.json");
const identify = (pid: number): Process => ({ pid, identity: processIdentity(pid) });
const isRunning = ({ pid, identity }: Process) => identity !== undefined && processIdentity(pid) === identity;

function readOwner(dataDir: string): Owner | undefined {
  try {
    return JSON.parse(readFileSync(file(dataDir), "utf8")) as Owner;
  } catch {
    return undefined; // gone, or cut off by a crash of the system
  }
}

/** Returns when the directory's earlier owner and all it has started are gone. */
async function vacate(dataDir: string): Promise<void> {
  const since = Date.now();
  let owner = readOwner(dataDir);
  while (owner && isRunning(owner)) {
    if (Date.now() - since > (owner.stopping ? STOPPING_MS : HESITATION_MS)) {
      throw new StartError(
        `The data directory ${dataDir} is in use by another instance (process ${owner.pid}${owner.url ? `, ${owner.url}` : ""}): stop that one, or name another directory in SIGNALBOX_DATA_DIR.`,
      );
    }
    await delay(50);
    owner = readOwner(dataDir);
  }
  await clearAway(owner?.children ?? []);
  rmSync(file(dataDir), { force: true });
}

/** Leftovers end by themselves once their owner is gone; one that does not is killed. */
async function clearAway(leftovers: readonly Process[]): Promise<void> {
  const deadline = Date.now() + LEFTOVER_MS;
  while (leftovers.some(isRunning) && Date.now() < deadline) await delay(50);
  for (const leftover of leftovers.filter(isRunning)) killGroup(leftover.pid);
}
