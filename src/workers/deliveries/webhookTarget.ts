import type { WebhookMessage } from "../../channels/webhook/sender.ts";
import type { Config } from "../../config/config.ts";
import type { DeliveryDoc } from "../../models/deliveries/delivery.ts";

/** The parts of the configuration that decide where webhooks are sent. */
export type WebhookSettings = Pick<Config, "notify" | "outbound">;

/** The parts of a request that the configuration has now, when it is sent. */
export type WebhookTarget = Pick<WebhookMessage, "url" | "isCallback" | "secrets" | "headers">;

const listOf = (secret: string | readonly string[]): readonly string[] =>
  typeof secret === "string" ? [secret] : secret;

/** Returns where a webhook is sent according to the configuration, or why it cannot be sent any more. */
export function webhookTarget(
  { event, webhook }: Pick<DeliveryDoc, "event" | "webhook">,
  { notify, outbound }: WebhookSettings,
): WebhookTarget | { readonly fault: string } {
  const url = webhook?.url ?? null;
  if (url !== null) {
    if (!outbound)
      return { fault: "The configuration no longer has `outbound`, without which no callbackUrl is called." };
    return { url, isCallback: true, secrets: listOf(outbound.secret), headers: {} };
  }
  const target = notify.find(({ id }) => id === event?.rule)?.to.webhook;
  if (!target) return { fault: `The configuration no longer has a rule ${event?.rule} with a webhook.` };
  return { url: target.url, isCallback: false, secrets: listOf(target.secret), headers: target.headers ?? {} };
}
