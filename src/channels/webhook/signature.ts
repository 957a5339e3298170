import { createHmac } from "node:crypto";
import { signingKeys } from "../../shared/signingKeys.ts";

/**
 * Returns the headers that identify and sign a message of Standard Webhooks 1.0.0: `webhook-id`, `webhook-timestamp` (Unix
 * seconds) and `webhook-signature`, which has one signature for each secret.
 * Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signatureHeaders(
  id: string,
  body: Uint8Array,
  secrets: readonly string[],
  now: Date,
): Record<string, string> {
  const seconds = Math.floor(now.getTime() / 1_000);
  const signatures = secrets.map((secret) => {
    const [key = ""] = signingKeys("standard-webhooks", secret);
    return `v1,${createHmac("sha256", key).update(`${id}.${seconds}.`).update(body).digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": String(seconds), "webhook-signature": signatures.join(" ") };
}
