import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import type { StepReporter } from "../../src/client/client.ts";

/** What the code of a step may say, in any order; `turn` lets what is under way go on. */
export type Act =
  | { act: "start"; message: string }
  | { act: "message"; message: string }
  | { act: "progress"; progress: number; message?: string }
  | { act: "output"; output: { at: number } }
  | { act: "complete"; message: string; output?: { at: number } }
  | { act: "fail"; message: string; output?: { at: number } }
  | { act: "turn" };

const message = fc.string({ minLength: 1, maxLength: 8 }).map((text) => text.replaceAll("\0", "0"));
const progress = fc.double({ min: 0, max: 100, noNaN: true });
const output = fc.record({ at: fc.integer() });
const often = [
  fc.record({ act: fc.constant("progress" as const), progress, message }, { requiredKeys: ["act", "progress"] }),
  fc.record({ act: fc.constant("message" as const), message }),
  fc.record({ act: fc.constant("turn" as const) }),
].map((arbitrary) => ({ arbitrary: arbitrary as fc.Arbitrary<Act>, weight: 10 }));
const seldom = [
  fc.record({ act: fc.constant("start" as const), message }),
  fc.record({ act: fc.constant("output" as const), output }),
  fc.record(
    { act: fc.constantFrom("complete" as const, "fail" as const), message, output },
    { requiredKeys: ["act", "message"] },
  ),
].map((arbitrary) => ({ arbitrary: arbitrary as fc.Arbitrary<Act>, weight: 1 }));

export const anySequence = (maxLength: number): fc.Arbitrary<Act[]> =>
  fc.array(fc.oneof(...often, ...seldom), { minLength: 1, maxLength, size: "max" });

/** Says it all, without waiting for any of it. @returns what settles with the reports that were promised something */
export async function perform(step: StepReporter, acts: readonly Act[], between = async () => {}): Promise<unknown> {
  const promised: Promise<void>[] = [];
  for (const act of acts) {
    await between();
    if (act.act === "turn") await turn();
    else if (act.act === "progress") step.progress(act.progress, act.message);
    else if (act.act === "message") step.message(act.message);
    else if (act.act === "output") step.update({ output: act.output });
    else if (act.act === "start") promised.push(step.start(act.message));
    else if (act.act === "complete") promised.push(step.complete(act));
    else if (act.act === "fail") promised.push(step.fail(act.message, act));
  }
  return Promise.all(promised);
}

/**
 * How the step reads when every report has taken effect, one after the other, but for what is said between an end and the
 * next start; null when nothing was said.
 */
export function stateAfter(acts: readonly Act[]) {
  let state: {
    status: string;
    progress: number;
    message: string | null;
    output: object | null;
    attempts: number;
  } | null = null;
  for (const act of acts) {
    if (act.act === "turn") continue;
    state ??= { status: "running", progress: 0, message: null, output: null, attempts: 1 };
    const isFinal = act.act === "complete" || act.act === "fail";
    const hasEnded = state.status !== "running";
    if (hasEnded && !isFinal && act.act !== "start") continue;
    if (hasEnded && act.act === "start") state.attempts++;
    state.status = act.act === "complete" ? "completed" : act.act === "fail" ? "failed" : "running";
    if (act.act === "complete") state.progress = 100;
    if (act.act === "start") state.progress = 0;
    if (act.act === "progress") state.progress = act.progress;
    if ("message" in act) state.message = act.message ?? null;
    if ("output" in act) state.output = act.output ?? null;
  }
  return state;
}
