import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** A process as /proc tells of it; `startedAt` in a unit of its own: with it, a process is told from a later one of its id. */
export interface Process {
  readonly pid: number;
  /** One letter; `Z` when it has ended and nobody has asked how. */
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  readonly startedAt: string;
}

/**
 * Signals the leader's group, and what else there is of its family, with what was `known` to be of it: whose parent has ended
 * meanwhile is not found any more. @returns the family, to be known the next time
 */
export function signalFamily(leader: number, name: NodeJS.Signals, known: readonly Process[] = []): readonly Process[] {
  const family = familyOf(leader, known);
  const others = family.filter(({ group }) => group !== leader).map(({ pid }) => pid);
  for (const target of [-leader, ...others]) {
    try {
      process.kill(target, name);
    } catch {
      // Nobody is left.
    }
  }
  return family;
}

/** Whoever is in the leader's session or known, and their descendants. */
function familyOf(leader: number, known: readonly Process[]): readonly Process[] {
  const all = allProcesses();
  const isKnown = ({ pid, startedAt }: Process) => known.some((one) => one.pid === pid && one.startedAt === startedAt);
  const family = new Set(all.filter((one) => one.session === leader || isKnown(one)));
  // What is added while the set is walked through is walked through too.
  for (const { pid } of family) for (const one of all) if (one.parent === pid) family.add(one);
  return [...family];
}

/**
 * None where there is no /proc as Linux has it, or that of another namespace, whose ids are other processes' here, or no file
 * left to read it with: the group is known all the same.
 */
function allProcesses(): readonly Process[] {
  try {
    if (readlinkSync("/proc/self") !== String(process.pid)) return [];
    return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? (readProcess(Number(name)) ?? []) : []));
  } catch {
    return [];
  }
}

/** Undefined when there is no such process. */
export function readProcess(pid: number): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before may have spaces and brackets in it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [parent, group, session] = fields.slice(1, 4).map(Number) as [number, number, number];
    return { pid, state: fields[0] ?? "", parent, group, session, startedAt: fields[19] ?? "" };
  } catch {
    return undefined; // it has ended meanwhile
  }
}
