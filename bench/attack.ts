import type { Lifecycle } from "../src/shared/process/lifecycle.ts";
import { eventually } from "../test/support/eventually.ts";
import { redisUrl } from "../test/support/servers/servers.ts";
import type { AttackEnd, AttackTask } from "./attacker.ts";
import { type AttackName, attacks, LARGE } from "./attacks.ts";
import { send } from "./calls.ts";
import { type Child, startChild } from "./child.ts";
import { fill } from "./jobs.ts";
import { ask } from "./measure.ts";
import { median } from "./quantile.ts";
import { connectionsOf, databaseUri, holdingOf, open, PROBED, startApi, type Web } from "./services.ts";
import type { WorkName } from "./works.ts";

const WORKS = ["report", "read"] as const satisfies WorkName[];
const CONNECTIONS = 10;
const OUTPUT_BYTES = 3_000_000;
const RELEASE_TIMEOUT_MS = 60_000;

/** p99 of other clients in milliseconds, as medians of the turns; the ratio is the median of the turns' ratios. */
interface Noticed {
  readonly without: number;
  readonly with: number;
  readonly ratio: number;
}

export interface AttackRow {
  readonly title: string;
  readonly connections: number;
  readonly noticed: Readonly<Record<(typeof WORKS)[number], Noticed>>;
  /** Number of connections that the service closed during the last turn. */
  readonly cutOff: number;
  /** Resident memory of the web process in MiB before, during and after the attack of the last turn. */
  readonly memory: readonly [before: number, during: number, after: number];
}

/**
 * Measures how each attack affects other clients: reports and reads without it and with it, in turn.
 * @param web a warm web process with the option `PROBED`, the jobs of the load and the large job
 * @param share the share of the full attack's connections to open
 */
export async function* measureAttacks(
  lifecycle: Lifecycle,
  load: Child<true>,
  web: Web,
  { turns, seconds, share }: { turns: number; seconds: number; share: number },
): AsyncGenerator<AttackRow> {
  const attacker = await startChild<true>(ATTACKER);
  lifecycle.onClose("attacker", attacker.stop);
  for (const [name, { title, connections: full }] of Object.entries(attacks) as [
    AttackName,
    { title: string; connections: number },
  ][]) {
    const connections = Math.ceil(full * share);
    const quiet: Figures[] = [];
    const hostile: Figures[] = [];
    let rest: Pick<AttackRow, "cutOff" | "memory"> = { cutOff: 0, memory: [0, 0, 0] };
    for (let turn = 0; turn < turns; turn++) {
      quiet.push(await others(load, web, seconds));
      const [before, known] = [await memoryOf(web), await connectionsOf(web)];
      attacker.process.send({ url: web.url, attack: name, connections } satisfies AttackTask);
      await attacker.nextMessage();
      await others(load, web, seconds); // Not counted: the start of an attack is ordinary load.
      hostile.push(await others(load, web, seconds));
      const during = await memoryOf(web);
      attacker.process.send("stop");
      const { cutOff } = (await attacker.nextMessage()) as AttackEnd;
      const isLeft = async () => (await connectionsOf(web)) <= known;
      await eventually(isLeft, `the connections of "${title}" to be released`, RELEASE_TIMEOUT_MS);
      rest = { cutOff, memory: [before, during, await memoryOf(web)] };
    }
    const noticed = Object.fromEntries(
      WORKS.map((work) => [work, compare(quiet, hostile, work)]),
    ) as AttackRow["noticed"];
    yield { title, connections, noticed, ...rest };
  }
}

type Figures = Readonly<Record<(typeof WORKS)[number], number>>;

const ATTACKER = new URL("./attacker.ts", import.meta.url);

/** Starts a web process to attack. */
export async function startAttacked(lifecycle: Lifecycle, load: Child<true>, seconds: number): Promise<Web> {
  const [uri, redis] = await Promise.all([databaseUri("attack"), redisUrl()]);
  const database = await open(lifecycle, uri);
  await database.prepare();
  const web = await startApi(lifecycle, { MONGODB_URI: uri, REDIS_URL: redis, LOG_LEVEL: "error" }, PROBED);
  await fill(web);
  await addLargeJob(web);
  for (const work of [...WORKS, ...WORKS]) await ask(load, web, { work, connections: CONNECTIONS, seconds }); // warm
  return web;
}

/** Adds a job with a large response. */
export async function addLargeJob(web: Web): Promise<void> {
  const path = `/api/jobs/${LARGE.jobId}`;
  await send(web, { method: "PUT", path, body: {} });
  for (let step = 0; step < 3; step++) {
    const body = { stepName: "Large", output: { text: "x".repeat(OUTPUT_BYTES) } };
    await send(web, { method: "PUT", path: `${path}/steps/step-${step}`, body });
  }
}

async function others(load: Child<true>, web: Web, seconds: number): Promise<Figures> {
  const p99 = async (work: WorkName) => (await ask(load, web, { work, connections: CONNECTIONS, seconds })).p99;
  return { report: await p99("report"), read: await p99("read") };
}

function compare(quiet: readonly Figures[], hostile: readonly Figures[], work: keyof Figures): Noticed {
  const of = (turns: readonly Figures[]) => median(turns.map((turn) => turn[work]));
  return {
    without: of(quiet),
    with: of(hostile),
    ratio: median(hostile.map((turn, i) => turn[work] / quiet[i]![work])),
  };
}

const MIB = 1024 * 1024;
const memoryOf = async (web: Web): Promise<number> => (await holdingOf(web)).resident / MIB;
