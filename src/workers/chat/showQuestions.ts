import type { Channel, EditOutcome } from "../../channels/channel.ts";
import { toParts } from "../../channels/markdown/parts.ts";
import type { Part, TextStyle } from "../../channels/markdown/style.ts";
import { listQuestions, type QuestionDelivery, updateQuestion } from "../../models/deliveries/questions.ts";
import type { GateDoc } from "../../models/gates/gate.ts";
import { changedText, closedParagraph, needsForm, shownVersion } from "../../models/gates/shown.ts";
import { backoff, MAX_RETRY_AFTER_MS } from "../../shared/backoff.ts";
import { escapeMarkdown } from "../../shared/notifications/phrases.ts";
import type { ChatDeps } from "./chatDeps.ts";
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
  const isEditable = state === "sent" && question.refs.length > 0 && channel?.editing;
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
  const limitMs = failed.kind === "rate-limited" ? Math.min(failed.retryAfterMs ?? 0, MAX_RETRY_AFTER_MS) : 0;
  const notBefore = new Date(clock.now().getTime() + Math.max(limitMs, retryMs(tries)));
  await updateQuestion(stores, asked, { tries, notBefore });
}

/** Edits one message: formatted, and if the service refuses that, as plain text. */
async function edit(
  { editing, style }: Channel,
  { asked, gate, ref }: Pick<Shown, "asked" | "gate"> & { readonly ref: string },
  signal: AbortSignal,
): Promise<EditOutcome> {
  if (!editing) throw new Error("the channel cannot edit messages");
  const [to = "", id = ""] = ref.split("/");
  const isOpen = gate?.status === "open";
  const buttons = isOpen ? questionButtons({ ...asked.question, needsForm: needsForm(gate) }, asked.link) : [];
  const { text, plain } = partOf(asked, gate, style);
  const message = { to, plainText: plain, title: asked.title, link: asked.link, key: asked.question.button };
  const outcome = await editing.edit({ ...message, text, plain: false, buttons }, id, signal);
  if (outcome.kind !== "content") return outcome;
  return editing.edit({ ...message, text: plain, plain: true, buttons: [] }, id, signal);
}

/** Returns the new text of the message with the buttons: the question with its end, or in short if it took several messages. */
function partOf(asked: QuestionDelivery, gate: GateDoc | null, style: TextStyle): Part {
  const short = `${escapeMarkdown(asked.title ?? "")}\n\n${closedParagraph(gate)}`;
  const texts = gate?.status === "open" ? [changedText(gate)] : [`${asked.text}\n\n${closedParagraph(gate)}`, short];
  const candidates = texts.map((text) => toParts(text, style));
  const part = (candidates.find(({ length }) => length === 1 && asked.parts.length === 1) ?? candidates.at(-1))?.at(-1);
  if (!part) throw new Error("the text of a question is empty");
  return part;
}
