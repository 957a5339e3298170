import type { RequestSignature } from "../../models/intake/hookRequest.ts";

/** The words for a signature that does not fit, where the sender has no shared secret. */
const WRONG: Partial<Record<RequestSignature["type"], string>> = {
  "hook-token": "The token is not the hook token: compare the setting of the sender with hooks.token.",
  token: "The token does not match: compare the setting of the sender with auth.token of the mapping.",
  sendgrid: "The signature does not match: other verification key, or the body was changed on its way.",
  sns: "The message is not of auth.topicArns, is not signed by Amazon SNS, or was changed on its way.",
};

const MISSING: Partial<Record<RequestSignature["type"], string>> = {
  "hook-token":
    "The hook token is missing: send it in the header Authorization, or give the mapping auth for a sender that signs.",
  token: "The token is missing: set it at the sender, and check that no proxy removes its header.",
};

/**
 * Describes the verdict on a sender for the operator. The sender gets the same answer whatever the verdict is.
 * @param verdict not `valid`
 */
export function describeVerdict({ type, verdict }: RequestSignature): string {
  switch (verdict) {
    case "missing":
      return (
        MISSING[type] ??
        `The ${type} signature is missing: set the secret at the sender, and check that no proxy removes its headers.`
      );
    case "malformed":
      return `The signature has another form than that of ${type}: check auth.type of the mapping, and the headers.`;
    case "expired":
      return "The signed time is too far from the time of this service: check both clocks, or the message was delayed.";
    default:
      return WRONG[type] ?? "The signature does not match: other secret, or the body was changed on its way.";
  }
}
