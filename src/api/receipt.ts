import { AppError } from "../shared/errors.ts";
import { type Caller, mayDo } from "./auth/caller.ts";
import type { Answer, Answers, AnyRoute } from "./routing/route.ts";

/** Returns whether a caller receives the receipt of a route in place of its whole response. */
export const getsReceipt = (caller: Pick<Caller, "grants">, { receipt }: Pick<AnyRoute, "receipt">): boolean =>
  receipt !== undefined && !mayDo(caller, ...receipt.unless);

/** Returns the fields of a response that its receipt has. */
export function receiptOf(answer: Answer<Answers>, { receipt }: Pick<AnyRoute, "receipt">): Answer<Answers> {
  return { ...answer, body: project(answer.body, receipt) };
}

/** Returns an error whose records have the fields of the receipt, and whose detail quotes none of the others. */
export function errorReceiptOf(thrown: unknown, { receipt }: Pick<AnyRoute, "receipt">): unknown {
  if (!(thrown instanceof AppError) || !thrown.body) return thrown;
  const records = Object.entries(thrown.body).map(([name, record]) => [name, project(record, receipt)]);
  return new AppError(thrown.code, { body: Object.fromEntries(records) });
}

function project(record: unknown, receipt: AnyRoute["receipt"]): Record<string, unknown> {
  const names = Object.keys(receipt?.schema.properties ?? {});
  return Object.fromEntries(Object.entries(record as object).filter(([name]) => names.includes(name)));
}
