import { decided } from "../../shared/notifications/phrases.ts";
import { type AuditDoc, type AuditLog, gateTarget } from "../audit.ts";
import type { GateDoc } from "./gate.ts";
import type { GateStores } from "./gateStores.ts";
import { defaultContent } from "./question.ts";
import { closedSentence, needsForm, shownVersion } from "./shown.ts";

const CHANGED = "The question has changed. Read it again before you answer.";
const HAS_FORM = "The question has a form. Answer it on its page.";

/** A press of a button that answers a gate. */
export interface PressedButton {
  readonly action: "accept" | "decline";
  /** The version of the gate that the message with the button shows. */
  readonly shown: string;
  /** The person, as the answer records it. */
  readonly answeredBy: string;
  readonly caller: Pick<AuditDoc, "actor" | "address" | "requestId" | "serviceRequestId">;
}

/** The effect of a press: `hasForm` if the message shows buttons that cannot answer the gate. */
export interface PressOutcome {
  readonly kind: "answered" | "changed" | "hasForm" | "closed";
  /** A sentence for the person. */
  readonly sentence: string;
}

/**
 * Answers a gate for a person who has pressed a button, unless it has closed or differs from the message. The same press has the
 * same outcome again after a crash.
 * @param gate the gate as readers see it; null if its job was deleted
 */
export async function answerByButton(
  { gates, audit }: Pick<GateStores, "gates"> & { readonly audit: AuditLog },
  gate: GateDoc | null,
  { action, shown, answeredBy, caller }: PressedButton,
): Promise<PressOutcome> {
  if (gate?.status === "answered" && gate.answeredBy === answeredBy && gate.action === action) return thanks(gate);
  if (gate?.status !== "open") return { kind: "closed", sentence: closedSentence(gate) };
  if (shown !== shownVersion(gate)) return { kind: "changed", sentence: CHANGED };
  if (action === "accept" && needsForm(gate)) return { kind: "hasForm", sentence: HAS_FORM };
  const content = action === "accept" ? defaultContent(gate.requestedSchema) : null;
  // Stored before the answer, so that no answer lacks its entry after a crash.
  const entry = await audit.add(caller, "gate.answer", gateTarget(gate.jobId, gate.key));
  const answered = await gates.answer(gate, { action, content, answeredBy });
  if (answered) return thanks(answered);
  await audit.remove(entry);
  return { kind: "closed", sentence: closedSentence(await gates.findById(gate._id)) };
}

const thanks = ({ action }: GateDoc): PressOutcome => ({
  kind: "answered",
  sentence: `You have ${decided(action)} it.`,
});
