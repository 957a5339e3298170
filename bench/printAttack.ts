import type { AttackRow } from "./attack.ts";
import { machine } from "./print.ts";

const COLUMNS = [34, 11, 22, 6, 22, 6, 8, 20];

export const facts = (turns: number, seconds: number): string => `\
${machine()}
p99 in ms of others (10 connections each) without and with each attack, in turn: medians of ${turns} turns of ${seconds} s. The attack, the
load and the service share this machine. Goal: ratio <=2.`;

const line = (cells: readonly string[]): string =>
  cells.map((cell, i) => (i === 0 ? cell.padEnd(COLUMNS[i]!) : cell.padStart(COLUMNS[i]!))).join("  ");

export const head: string = line([
  ...["attack", "connections", "reports without, with", "ratio", "reads without, with", "ratio"],
  ...["cut off", "RSS MiB before, during, after"],
]);

export function row({ title, connections, noticed: { report, read }, cutOff, memory }: AttackRow): string {
  const cells = [report, read].flatMap((one) => [
    `${one.without.toFixed(1)}, ${one.with.toFixed(1)}`,
    one.ratio.toFixed(2),
  ]);
  return line([title, String(connections), ...cells, String(cutOff), memory.map((mib) => mib.toFixed(0)).join(", ")]);
}
