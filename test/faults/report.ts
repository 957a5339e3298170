import type { AttackResult, Figures } from "./attack.ts";
import { VIOLATIONS } from "./checks/violation.ts";
import { KINDS, type Kind } from "./plan.ts";

/** Maximum violations of a kind that are listed. */
const MAX_LISTED = 10;

const FIGURES: Readonly<Record<keyof Figures, string>> = {
  acknowledged: "requests acknowledged",
  reports: "reports sent",
  hooks: "hooks sent",
  runs: "resulting runs",
  events: "events of the main session",
  deliveries: "deliveries",
  notifications: "webhooks received",
  notifiedAfterMs: "seconds from a transition to its webhook, at most",
  reads: "reads and events that readers received",
  repeatedTurns: "agent turns repeated after a crash",
  failedRuns: "runs that failed after three attempts",
  maybeTwice: "deliveries marked as possibly duplicated",
  givenUp: "of these, deliveries that were given up",
  endedAfterMs: "seconds from the last fault to the end of all work",
};

/** Formats an attack as a Markdown table, and its violations. */
export function report(result: AttackResult): string {
  const { topology, seed, faults, violations, figures } = result;
  const injected = faults.filter(({ wasInjected }) => wasInjected);
  const rows: [string, string | number][] = [
    ["injected faults", injected.length],
    ...[...Map.groupBy(injected, ({ kind }) => kind)]
      .sort()
      .map(([kind, all]): [string, number] => [`– ${kind}: ${KINDS[kind as Kind].what}`, all.length]),
    ...faults.filter(({ wasInjected }) => !wasInjected).map(({ kind, what }): [string, string] => [`– ${kind}`, what]),
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
  return [`| ${title}, seed ${seed} | |`, "|---|---|", ...table, ...listViolations(result)].join("\n");
}

function listViolations({ violations, faults }: AttackResult): string[] {
  if (violations.length === 0) return [];
  const byKind = [...Map.groupBy(violations, ({ kind }) => kind)];
  const lines = byKind.flatMap(([kind, all]) => [
    ...all.slice(0, MAX_LISTED).map(({ what }) => `${kind}: ${what}`),
    ...(all.length > MAX_LISTED ? [`${kind}: and ${all.length - MAX_LISTED} more`] : []),
  ]);
  const when = faults.map(
    ({ kind, atMs, forMs, what }) =>
      `  at ${(atMs / 1_000).toFixed(1)} s for ${(forMs / 1_000).toFixed(1)} s: ${kind}, ${what}`,
  );
  return ["", "Violations:", ...lines, "", "Faults:", ...when];
}
