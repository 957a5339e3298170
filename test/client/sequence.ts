import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import type { StepReporter } from "../../src/client/client.ts";

/** A call of a step's reporter; `turn` lets pending I/O continue. */
export type Call =
  | { kind: "start"; message: string }
  | { kind: "message"; message: string }
  | { kind: "progress"; progress: number; message?: string }
  | { kind: "output"; output: { at: number } }
  | { kind: "complete"; message: string; output?: { at: number } }
  | { kind: "fail"; message: string; output?: { at: number } }
  | { kind: "turn" };

const message = fc.string({ minLength: 1, maxLength: 8 }).map((text) => text.replaceAll("\0", "0"));
const progress = fc.double({ min: 0, max: 100, noNaN: true });
const output = fc.record({ at: fc.integer() });
const often = [
  fc.record({ kind: fc.constant("progress" as const), progress, message }, { requiredKeys: ["kind", "progress"] }),
  fc.record({ kind: fc.constant("message" as const), message }),
  fc.record({ kind: fc.constant("turn" as const) }),
].map((arbitrary) => ({ arbitrary: arbitrary as fc.Arbitrary<Call>, weight: 10 }));
const seldom = [
  fc.record({ kind: fc.constant("start" as const), message }),
  fc.record({ kind: fc.constant("output" as const), output }),
  fc.record(
    { kind: fc.constantFrom("complete" as const, "fail" as const), message, output },
    { requiredKeys: ["kind", "message"] },
  ),
].map((arbitrary) => ({ arbitrary: arbitrary as fc.Arbitrary<Call>, weight: 1 }));

export const anySequence = (maxLength: number): fc.Arbitrary<Call[]> =>
  fc.array(fc.oneof(...often, ...seldom), { minLength: 1, maxLength, size: "max" });

/** Makes all calls without waiting for them. The returned promise settles with those that return a promise. */
export async function perform(step: StepReporter, calls: readonly Call[], between = async () => {}): Promise<unknown> {
  const promises: Promise<void>[] = [];
  for (const call of calls) {
    await between();
    if (call.kind === "turn") await turn();
    else if (call.kind === "progress") step.progress(call.progress, call.message);
    else if (call.kind === "message") step.message(call.message);
    else if (call.kind === "output") step.update({ output: call.output });
    else if (call.kind === "start") promises.push(step.start(call.message));
    else if (call.kind === "complete") promises.push(step.complete(call));
    else if (call.kind === "fail") promises.push(step.fail(call.message, call));
  }
  return Promise.all(promises);
}

/**
 * Returns the step after all reports in their order, except those between an end and the next start; null without
 * reports.
 */
export function stateAfter(calls: readonly Call[]) {
  let state: {
    status: string;
    progress: number;
    message: string | null;
    output: object | null;
    attempts: number;
  } | null = null;
  for (const call of calls) {
    if (call.kind === "turn") continue;
    state ??= { status: "running", progress: 0, message: null, output: null, attempts: 1 };
    const isFinal = call.kind === "complete" || call.kind === "fail";
    const hasEnded = state.status !== "running";
    if (hasEnded && !isFinal && call.kind !== "start") continue;
    if (hasEnded && call.kind === "start") state.attempts++;
    state.status = call.kind === "complete" ? "completed" : call.kind === "fail" ? "failed" : "running";
    if (call.kind === "complete") state.progress = 100;
    if (call.kind === "start") state.progress = 0;
    if (call.kind === "progress") state.progress = call.progress;
    if ("message" in call) state.message = call.message ?? null;
    if ("output" in call) state.output = call.output ?? null;
  }
  return state;
}
