import { gateTarget } from "../../models/audit.ts";
import { bindMessage, findQuestion, updateQuestion } from "../../models/deliveries/questions.ts";
import { defaultContent } from "../../models/gates/question.ts";
import { closedSentence, needsForm, shownVersion } from "../../models/gates/shown.ts";
import type { ButtonPress } from "../../shared/chatEvent.ts";
import { decided } from "../../shared/notifications/phrases.ts";
import { chatName } from "../../shared/text/visibleName.ts";
import type { ChatDeps } from "./chat.ts";
import { showQuestions } from "./showQuestions.ts";

const UNKNOWN = "This button belongs to no question that is known here.";
const CHANGED = "The question has changed. Read it again before you answer.";
const HAS_FORM = "This question has a form. Answer it on its page.";
/** The answer to a person who is not in `allowFrom`. */
export const NOT_ALLOWED = "You may not answer this.";

/**
 * Answers the question whose button was pressed, if the person may, and edits all its messages. Returns the sentence for the
 * person. A press that is handled again after a crash has the same result, because the first answer counts.
 * @throws AppError unavailable
 */
export async function answerPress(
  deps: ChatDeps,
  channel: string,
  press: ButtonPress,
  signal: AbortSignal,
): Promise<string> {
  const { stores, access, audit } = deps;
  const asked = await findQuestion(stores, { channel, button: press.button });
  if (!asked) return UNKNOWN;
  const { gateId } = asked.question;
  const gate = await stores.gates.findById(gateId);
  const actor = chatName(channel, press.person);
  if (!access.mayAct(channel, press.person.id)) {
    const target = gate ? gateTarget(gate.jobId, gate.key) : gateId;
    if (audit.isNew(`${channel}:${press.person.id} ${gateId}`))
      await stores.audit.add(callerOf(actor), "chat.refused", target);
    return NOT_ALLOWED;
  }
  if (!(await bindMessage(stores, asked, press.ref))) return UNKNOWN;
  if (gate?.status === "answered" && gate.answeredBy === actor) return thanks(gate.action);
  if (gate?.status !== "open") return closedSentence(gate);
  if (asked.question.shown !== shownVersion(gate)) return CHANGED;
  const { action } = press;
  if (action === "accept" && needsForm(gate)) {
    await updateQuestion(stores, asked, { shown: "" }); // its buttons are replaced by the one that opens the page
    return HAS_FORM;
  }
  const content = action === "accept" ? defaultContent(gate.requestedSchema) : null;
  // Stored before the answer, so that no answer lacks its entry after a crash.
  const entry = await stores.audit.add(callerOf(actor), "gate.answer", gateTarget(gate.jobId, gate.key));
  const answered = await stores.gates.answer(gate, { action, content, answeredBy: actor });
  if (!answered) {
    await stores.audit.remove(entry);
    return closedSentence(await stores.gates.findById(gateId));
  }
  await showQuestions(deps, signal, gateId);
  return thanks(answered.action);
}

const thanks = (action: Parameters<typeof decided>[0]): string => `You have ${decided(action)} it.`;

/** Returns the caller of an entry of the audit log. No request causes it. */
const callerOf = (actor: string) => ({ actor, address: "", requestId: "", serviceRequestId: "" });
