import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { processesOf, runCli, type Service } from "../service.ts";

/** Waits until no process uses a data directory. */
export const allEnd = (dataDir: string) =>
  eventually(() => !existsSync(dataDir) || !Object.values(processesOf(dataDir)).some(Boolean), "all to end");

/** Instances of `signalbox start` with one data directory and one configuration, which a suite starts one after another. */
export class Instances {
  readonly home = mkdtempSync(join(tmpdir(), "signalbox-start-"));
  readonly dataDir = join(this.home, "data");
  readonly env = { SIGNALBOX_DATA_DIR: this.dataDir, SIGNALBOX_CONFIG: join(this.home, "signalbox.json5") };
  #current: Service | undefined;
  #hasJob = false;

  constructor() {
    this.writeToken("the-first-token-of-hooks");
  }

  writeToken(token: string): void {
    writeFileSync(this.env.SIGNALBOX_CONFIG, `{ hooks: { enabled: true, token: "${token}" } }`);
  }

  start(): Service {
    this.#current = runCli("start", this.env);
    return this.#current;
  }

  /** Returns the running instance, or a new one. Its data contain a job. */
  async running(): Promise<{ service: Service; url: string }> {
    const service = this.#current ?? this.start();
    const url = await service.ready();
    if (!this.#hasJob) await putJob(url);
    this.#hasJob = true;
    return { service, url };
  }

  /** Starts and stops an instance, so that its data exist. */
  async haveRun(): Promise<void> {
    if (!this.#hasJob) await this.running();
    await this.stop();
  }

  /** Waits for the running instance to end, after a signal. */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    this.#current?.kill(signal);
    await this.#current?.ended;
    this.#current = undefined;
  }

  /** Ends all processes and removes the data. */
  async remove(): Promise<void> {
    await this.stop();
    await allEnd(this.dataDir);
    rmSync(this.home, { recursive: true, force: true });
  }
}

async function putJob(url: string): Promise<void> {
  const answer = await fetch(`${url}/api/jobs/report`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ name: "Report" }),
  });
  expect(answer.status).to.equal(201);
}

/** Returns the status of the job that each instance has. */
export const getJob = async (url: string): Promise<number> => (await fetch(`${url}/api/jobs/report`)).status;
