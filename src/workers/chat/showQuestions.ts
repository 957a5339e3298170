import type { Channel, SendOutcome } from "../../channels/channel.ts";
import { toParts } from "../../channels/markdown/parts.ts";
import { listQuestions, type QuestionDelivery, updateQuestion } from "../../models/deliveries/questions.ts";
import type { GateDoc } from "../../models/gates/gate.ts";
import { changedText, closedParagraph, needsForm, shownVersion } from "../../models/gates/shown.ts";
import { backoff } from "../../shared/backoff.ts";
import { escapeMarkdown } from "../../shared/notifications/phrases.ts";
import type { ChatDeps } from "./chat.ts";
import { questionButtons } from "./questionButtons.ts";

/** Failed tries after which a message stays as it is: about eight hours. */
const MAX_TRIES = 100;
const retryMs = backoff({ initialMs: 1_000, maxMs: 300_000, jitter: 0.2 });
/** Maximum edits at the same time. */
const CONCURRENCY = 10;

/**
 * Edits the messages with buttons that do not show the present state of their questions: of all questions, or of one. It compares
 * versions, so that a pass that was cut off is completed by the next one.
 * @throws AppError unavailable
 */
export async function showQuestions(deps: ChatDeps, signal: AbortSignal, gateId: string | null = null): Promise<void> {
  const { stores, clock } = deps;
  for await (const batch of listQuestions(stores, gateId, clock.now())) {
    const ids = [...new Set(batch.map(({ question }) => question.gateId))];
    const stored = await stores.gates.collection.find({ _id: { $in: ids } });
    const seen = new Map((await stores.gates.withJobs(stored)).map((gate) => [gate._id, gate]));
    const isFinal = new Map(stored.map(({ _id, status }) => [_id, status !== "open"]));
    const due = batch.flatMap((asked) => {
      const gate = seen.get(asked.question.gateId) ?? null;
      const isLast = gate === null || isFinal.get(gate._id) === true;
      return isLast || shownVersion(gate) !== asked.question.shown ? [{ asked, gate, isLast }] : [];
    });
    for (let i = 0; i < due.length && !signal.aborted; i += CONCURRENCY)
      await Promise.all(due.slice(i, i + CONCURRENCY).map((one) => show(deps, one, signal)));
  }
}

interface Shown {
  readonly asked: QuestionDelivery;
  /** The gate as readers see it; null if its job was deleted. */
  readonly gate: GateDoc | null;
  /** Whether the gate never changes again. */
  readonly isLast: boolean;
}

async function show(deps: ChatDeps, { asked, gate, isLast }: Shown, signal: AbortSignal): Promise<void> {
  const { stores, channels, clock, log } = deps;
  const { question, state, channel: name } = asked;
  const channel = channels.get(name);
  if (state === "pending") return; // it is edited once it was sent
  const isEditable = state === "sent" && question.refs.length > 0 && channel?.edit;
  const done = {
    shown: shownVersion(gate),
    needsForm: gate !== null && needsForm(gate),
    open: !isLast,
    tries: 0,
    notBefore: null,
  };
  if (!isEditable) return updateQuestion(stores, asked, done);
  const outcomes = await Promise.all(question.refs.map((ref) => edit(channel, { asked, gate, ref }, signal)));
  const failed = outcomes.find(({ kind }) => kind === "rate-limited" || kind === "transient" || kind === "ambiguous");
  const tries = question.tries + 1;
  if (signal.aborted || !failed || tries >= MAX_TRIES) {
    const lost = outcomes.find(({ kind }) => kind !== "sent");
    if (lost && "reason" in lost)
      log.warn({ channel: name, reason: lost.reason }, "the message of a question stays as it is");
    return signal.aborted ? undefined : updateQuestion(stores, asked, done);
  }
  const limitMs = failed.kind === "rate-limited" ? (failed.retryAfterMs ?? 0) : 0;
  const notBefore = new Date(clock.now().getTime() + Math.max(limitMs, retryMs(tries)));
  await updateQuestion(stores, asked, { tries, notBefore });
}

/** Edits one message: formatted, and if the service refuses that, as plain text. */
async function edit(
  { edit, style }: Channel,
  { asked, gate, ref }: Pick<Shown, "asked" | "gate"> & { readonly ref: string },
  signal: AbortSignal,
): Promise<SendOutcome> {
  if (!edit) throw new Error("the channel cannot edit messages");
  const isOpen = gate?.status === "open";
  const question = { ...asked.question, needsForm: isOpen && needsForm(gate) };
  const buttons = isOpen ? questionButtons(question, asked.link) : [];
  const [whole, ...more] = toParts(isOpen ? changedText(gate) : `${asked.text}\n\n${closedParagraph(gate)}`, style);
  const short = `${escapeMarkdown(asked.title ?? "")}\n\n${closedParagraph(gate)}`;
  const part =
    more.length === 0 && asked.parts.length === 1 ? whole : toParts(isOpen ? changedText(gate) : short, style).at(-1);
  if (!part) throw new Error("the text of a question is empty");
  const outcome = await edit({ ref, text: part.text, plain: false, buttons }, signal);
  return outcome.kind === "content" ? edit({ ref, text: part.plain, plain: true, buttons: [] }, signal) : outcome;
}
