import { type Caller, mayDo } from "./auth/caller.ts";
import type { Answer, Answers, AnyRoute } from "./route.ts";

/** Returns whether a caller receives the receipt of a route in place of its whole response. */
export const getsReceipt = (caller: Pick<Caller, "scopes">, { receipt }: Pick<AnyRoute, "receipt">): boolean =>
  receipt !== undefined && !mayDo(caller, receipt.unless);

/** Returns the fields of a response that its receipt has. */
export function receiptOf(answer: Answer<Answers>, { receipt }: Pick<AnyRoute, "receipt">): Answer<Answers> {
  const names = Object.keys(receipt?.schema.properties ?? {});
  const fields = Object.entries(answer.body as object).filter(([name]) => names.includes(name));
  return { ...answer, body: Object.fromEntries(fields) };
}
