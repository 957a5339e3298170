import { AppError } from "../../shared/errors.ts";
import { type GateDoc, viewGate } from "./gate.ts";

/** Maximum open gates of one job: nobody reads more questions, and the job's document names them. */
export const MAX_OPEN_GATES = 100;

/** Returns the error of an action that needs an open gate. Its body has the gate. */
export function gateClosed(gate: GateDoc): AppError {
  const name = `The gate ${JSON.stringify(gate.key)}`;
  const body = { gate: viewGate(gate) };
  if (gate.status === "answered") {
    const detail = `${name} was answered by ${JSON.stringify(gate.answeredBy)}. The first answer counts.`;
    return new AppError("gate_answered", { detail, body });
  }
  return new AppError("gate_closed", { detail: `${name} is ${gate.status} and can no longer be used.`, body });
}

/** Returns the error of an answer to a question that has changed since it was shown. */
export const gateChanged = (gate: GateDoc) =>
  new AppError("gate_changed", {
    detail: `The question of the gate ${JSON.stringify(gate.key)} has changed since it was shown. Read it again.`,
    body: { gate: viewGate(gate) },
  });

/** Returns the error of a gate that a job has no room for. */
export const tooManyGates = () =>
  new AppError("too_many_gates", {
    detail: `The job has ${MAX_OPEN_GATES} open gates, which is the maximum. Wait for answers, or withdraw some.`,
  });

/** Returns the error of a gate that does not exist. */
export function gateNotFound(jobId: string, key: string): AppError {
  const detail = `The job ${JSON.stringify(jobId)} has no gate ${JSON.stringify(key)}.`;
  return new AppError("gate_not_found", { detail });
}

/** Returns the error of a question of a job that has ended. */
export const askedAfterEnd = (jobId: string) =>
  new AppError("job_ended", {
    detail: `The job ${JSON.stringify(jobId)} has ended, so that nobody waits for an answer. Start it again first.`,
  });

/** Returns the error of a caller without the scope for answers whose change could decide a question. */
export const onlyPersonDecides = (what: string) =>
  new AppError("forbidden", {
    detail: `${what} needs the scope gates:answer, which this token does not have: only a person decides. Leave the field out, or use another token.`,
  });
