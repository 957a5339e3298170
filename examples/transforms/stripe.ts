import type { Transform } from "signalbox/transform";

/** The fields that are used of two Stripe events: https://docs.stripe.com/api/events/types */
type StripeEvent =
  | { type: "payment_intent.payment_failed"; data: { object: PaymentIntent } }
  | { type: "invoice.payment_failed"; data: { object: Invoice } };

interface PaymentIntent {
  id: string;
  amount: number;
  currency: string;
  description: string | null;
  last_payment_error: { message?: string; code?: string; decline_code?: string } | null;
}
interface Invoice {
  id: string;
  number: string | null;
  amount_remaining: number;
  currency: string;
  attempt_count: number;
  /** Unix seconds. */
  next_payment_attempt: number | null;
  hosted_invoice_url?: string | null;
}

/**
 * Sends failed payments to the agent, with the necessary fields only: the events also contain addresses and a client
 * secret. Drops all other events.
 */
const stripe: Transform<StripeEvent> = ({ payload: event }) => {
  switch (event.type) {
    case "payment_intent.payment_failed":
      return { message: paymentFailed(event.data.object) };
    case "invoice.payment_failed":
      return { message: invoiceUnpaid(event.data.object) };
    default:
      return null;
  }
};
export default stripe;

function paymentFailed({ id, amount, currency, description, last_payment_error: error }: PaymentIntent): string {
  const codes = [error?.code, error?.decline_code].filter((code) => code !== undefined);
  return lines(
    `The payment ${id} of ${money(amount, currency)} failed.`,
    error?.message && `Reason: ${error.message}`,
    codes.length > 0 && `Code: ${codes.join(", ")}`,
    description && `For: ${description}`,
  );
}

function invoiceUnpaid(invoice: Invoice): string {
  const { next_payment_attempt: next } = invoice;
  return lines(
    `Payment of the invoice ${invoice.number ?? invoice.id} failed.`,
    `Open: ${money(invoice.amount_remaining, invoice.currency)}, after attempt ${invoice.attempt_count}`,
    next === null ? "Stripe will not try again." : `Next attempt: ${new Date(next * 1000).toISOString()}`,
    invoice.hosted_invoice_url,
  );
}

/** Formats an amount in Stripe's smallest unit, whose decimal places depend on the currency. */
const money = (amount: number, currency: string): string =>
  `${amount} ${currency.toUpperCase()} (in the smallest unit, such as cents)`;

const lines = (...texts: (string | false | null | undefined)[]): string => texts.filter(Boolean).join("\n");
