import { gateTarget } from "../../models/audit.ts";
import { bindMessage, findQuestion, updateQuestion } from "../../models/deliveries/questions.ts";
import { answerByButton } from "../../models/gates/answerByButton.ts";
import type { ButtonPress } from "../../shared/chatEvent.ts";
import { chatName } from "../../shared/text/visibleName.ts";
import type { ChatDeps } from "./chatDeps.ts";
import { showQuestions } from "./showQuestions.ts";

const UNKNOWN = "This button belongs to no question that is known here.";
const NOT_ALLOWED = "You may not answer this.";

/**
 * Answers the question whose button was pressed, if the person may, and edits all its messages.
 * @returns the sentence for the person
 * @throws AppError unavailable
 */
export async function answerPress(
  deps: ChatDeps,
  channel: string,
  { button, person, action, ref }: ButtonPress,
  signal: AbortSignal,
): Promise<string> {
  const { stores, access, audited } = deps;
  const asked = await findQuestion(stores, { channel, button });
  if (!asked) return UNKNOWN;
  const { gateId, shown } = asked.question;
  const gate = await stores.gates.findById(gateId);
  const answeredBy = chatName(channel, person);
  const caller = { actor: answeredBy, address: "", requestId: "", serviceRequestId: "" }; // no request causes it
  if (!access.mayAct(channel, person.id)) {
    const target = gate ? gateTarget(gate.jobId, gate.key) : gateId;
    if (audited.isNew(`${channel}:${person.id} ${gateId}`)) await stores.audit.add(caller, "chat.refused", target);
    return NOT_ALLOWED;
  }
  if (!(await bindMessage(stores, asked, ref))) return UNKNOWN;
  const { kind, sentence } = await answerByButton(stores, gate, { action, shown, answeredBy, caller });
  // Its buttons are replaced by the one that opens the page.
  if (kind === "hasForm") await updateQuestion(stores, asked, { shown: "" });
  if (kind !== "changed") await showQuestions(deps, signal, gateId);
  return sentence;
}
