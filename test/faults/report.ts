import type { Attacked, Figures } from "./attack.ts";
import { VIOLATIONS } from "./checks/violation.ts";
import { KINDS, type Kind } from "./plan.ts";

/** Maximum violations of a kind that are listed. */
const MOST_TOLD = 10;

const FIGURES: Readonly<Record<keyof Figures, string>> = {
  acknowledged: "requests acknowledged",
  reports: "reports of progress asked for",
  hooks: "hooks asked for",
  runs: "runs made of them",
  events: "events of the main session",
  deliveries: "deliveries",
  reads: "reads and events seen by readers",
  repeatedTurns: "turns of the agent repeated after a crash",
  failedRuns: "runs failed after three tries, and said so",
  maybeTwice: "deliveries that may be there twice, and say so",
  givenUp: "of these given up, and say so",
  endedAfterMs: "seconds from the last fault to the end of everything",
};

/** Formats an attack as a Markdown table, and its violations. */
export function report(attacked: Attacked): string {
  const { topology, seed, faults, violations, figures } = attacked;
  const done = faults.filter(({ isDone }) => isDone);
  const rows: [string, string | number][] = [
    ["faults brought about", done.length],
    ...[...Map.groupBy(done, ({ kind }) => kind)]
      .sort()
      .map(([kind, all]): [string, number] => [`– ${kind}: ${KINDS[kind as Kind].what}`, all.length]),
    ...faults.filter(({ isDone }) => !isDone).map(({ kind, what }): [string, string] => [`– ${kind}`, what]),
    ...Object.entries(FIGURES).map(([name, words]): [string, number] => {
      const figure = figures[name as keyof Figures];
      return [words, name.endsWith("Ms") ? Math.round(figure / 1_000) : figure];
    }),
    ...VIOLATIONS.map((kind): [string, number] => [
      `**${kind}**`,
      violations.filter((violation) => violation.kind === kind).length,
    ]),
  ];
  const title = topology === "single" ? "one mongod" : "a replica set of three";
  const table = rows.map(([what, figure]) => `| ${what} | ${figure} |`);
  return [`| ${title}, seed ${seed} | |`, "|---|---|", ...table, ...listViolations(attacked)].join("\n");
}

function listViolations({ violations, faults }: Attacked): string[] {
  if (violations.length === 0) return [];
  const byKind = [...Map.groupBy(violations, ({ kind }) => kind)];
  const lines = byKind.flatMap(([kind, all]) => [
    ...all.slice(0, MOST_TOLD).map(({ what }) => `${kind}: ${what}`),
    ...(all.length > MOST_TOLD ? [`${kind}: and ${all.length - MOST_TOLD} more`] : []),
  ]);
  const when = faults.map(
    ({ kind, atMs, forMs, what }) =>
      `  at ${(atMs / 1_000).toFixed(1)} s for ${(forMs / 1_000).toFixed(1)} s: ${kind}, ${what}`,
  );
  return ["", "Broken:", ...lines, "", "Faults:", ...when];
}
