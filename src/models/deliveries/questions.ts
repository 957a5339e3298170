import type { AskedQuestion, DeliveryDoc } from "./delivery.ts";
import type { DeliveryStores } from "./deliveryStores.ts";

/** A delivery of a message with buttons. */
export type QuestionDelivery = DeliveryDoc & { readonly question: AskedQuestion };

type Stores = Pick<DeliveryStores, "deliveries">;

/** Maximum deliveries that are read at a time. */
const BATCH_SIZE = 100;

/** Finds the delivery of a channel whose message has these buttons. */
export async function findQuestion(
  { deliveries }: Stores,
  { channel, button }: { readonly channel: string; readonly button: string },
): Promise<QuestionDelivery | null> {
  return deliveries.collection.findOne<QuestionDelivery>({ "question.button": button, channel });
}

/**
 * Binds the buttons to the message that a person has pressed, unless they are bound to another one: the message of a delivery
 * whose result is not stored yet, or a second copy of it.
 * @returns whether they are bound to this message
 */
export async function bindMessage(
  { deliveries }: Stores,
  { _id, question, maybeTwice }: QuestionDelivery,
  ref: string,
): Promise<boolean> {
  if (question.refs.includes(ref)) return true;
  const unbound = maybeTwice ? {} : { "question.refs": { $size: 0 } };
  const bound = { $addToSet: { "question.refs": ref } };
  const { matchedCount } = await deliveries.collection.updateOne({ _id, ...unbound }, bound);
  return matchedCount === 1 || deliveries.collection.exists({ _id, "question.refs": ref });
}

/** Lists the messages that may have to be edited, of all questions or of one. */
export function listQuestions(
  { deliveries }: Stores,
  gateId: string | null,
  now: Date,
): AsyncGenerator<QuestionDelivery[], void> {
  const due = { $or: [{ "question.notBefore": null }, { "question.notBefore": { $lte: now } }] };
  const open = { "question.open": true, ...(gateId !== null && { "question.gateId": gateId }), ...due };
  return deliveries.collection.inBatches<QuestionDelivery>(BATCH_SIZE, open, { sort: { "question.gateId": 1 } });
}

/** Stores what the message of a question shows now, or when an edit is tried again. */
export async function updateQuestion(
  { deliveries }: Stores,
  { _id }: Pick<QuestionDelivery, "_id">,
  change: Partial<Pick<AskedQuestion, "shown" | "needsForm" | "open" | "tries" | "notBefore">>,
): Promise<void> {
  const fields = Object.entries(change).map(([field, value]) => [`question.${field}`, value]);
  await deliveries.collection.updateOne({ _id }, { $set: Object.fromEntries(fields) });
}
