import type { GateDoc } from "../../models/gates/gate.ts";
import { gateChanged, gateClosed } from "../../models/gates/gateErrors.ts";
import type { Gates } from "../../models/gates/gates.ts";
import { formOf } from "../../models/gates/question.ts";
import { packObject } from "../../models/jobs/freeObject.ts";
import { invalidField } from "../../shared/errors.ts";
import type { Action } from "../../wire/gate.ts";
import { checkContent } from "./content.ts";

interface Answer {
  readonly action: Action;
  readonly content?: Record<string, unknown> | null;
  readonly answeredBy: string;
  /** The revision of the question that was shown; undefined if the caller does not say. */
  readonly revision?: number | undefined;
}

/**
 * Records a person's answer, once it fits the question.
 * @param find reads the gate; called again if its question changes meanwhile
 * @returns the answered gate
 * @throws AppError invalid_body, gate_answered, gate_changed, gate_closed, unavailable; what `find` throws
 */
export async function answerGate(gates: Gates, find: () => Promise<GateDoc>, answer: Answer): Promise<GateDoc> {
  for (;;) {
    const gate = await find();
    if (gate.status !== "open") throw gateClosed(gate);
    if (answer.revision !== undefined && answer.revision !== gate.revision) throw gateChanged(gate);
    const { action, answeredBy } = answer;
    const content = packObject("content", contentOf(gate, answer));
    const answered = await gates.answer(gate, { action, content, answeredBy });
    if (answered) return answered;
  }
}

/** Returns the content to store. @throws AppError invalid_body if it does not fit the question */
function contentOf({ requestedSchema }: GateDoc, { action, content = null }: Answer): Record<string, unknown> | null {
  const isEmpty = content === null || Object.keys(content).length === 0;
  if (action !== "accept") {
    if (isEmpty) return null;
    throw invalidField("content", `is only allowed with the action accept, not with ${action}`);
  }
  const form = formOf(requestedSchema);
  if (!form) {
    if (isEmpty) return null;
    throw invalidField("content", "must be absent, because the gate has no requestedSchema");
  }
  const entered = content ?? {};
  checkContent(form, entered);
  return entered;
}
