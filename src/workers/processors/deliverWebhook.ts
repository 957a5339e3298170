import { randomUUID } from "node:crypto";
import type { WebhookMessage, WebhookOutcome } from "../../channels/webhook/sender.ts";
import type { Config } from "../../config/config.ts";
import type { AttemptCounts, DeliveryDoc } from "../../models/deliveries/delivery.ts";
import { DEPTH_HEADER } from "../../models/notes/depth.ts";
import type { Stores } from "../../models/stores.ts";
import { withLease } from "../../shared/lease.ts";
import { type Exchange, ReceiverLimiter } from "../deliveries/receiverLimiter.ts";
import type { WebhookResult, WorkerMetrics } from "../metrics.ts";
import { retryWhileMongoIsDown } from "../runs/retryWhileMongoIsDown.ts";
import type { Processor, RunContext } from "../runWorkers.ts";

/** Maximum random part that is added to a pause, so that deliveries which failed together do not return together. */
const JITTER = 0.2;
const CHANNEL = "webhook";

interface DeliverWebhookDeps {
  readonly stores: Stores;
  readonly settings: WebhookSettings;
  readonly sender: { send(message: WebhookMessage, signal: AbortSignal): Promise<WebhookOutcome> };
  readonly metrics: WorkerMetrics;
  /** Enqueues a delivery again. `occasion` makes the id of this queue entry unique. */
  requeue(deliveryId: string, occasion: string, delayMs: number): Promise<void>;
}

type AttemptOutcome = WebhookOutcome | { readonly kind: "lost" };

/**
 * Returns the processor that sends webhooks. Each delivery is a lane of its own, so that none waits for another. One whose
 * receiver has no permit left goes back to the queue without a lease.
 */
export function deliverWebhookProcessor(deps: DeliverWebhookDeps, limiter = new ReceiverLimiter()): Processor {
  const { deliveries } = deps.stores;
  return async ({ payload }, context) => {
    const { deliveryId } = payload as { deliveryId: string };
    const [waiting] = await deliveries.findMany([deliveryId]);
    if (waiting?.state !== "pending") return { kind: "done", result: { delivery: "over" } };
    const isEarly = waiting.notBefore !== null && waiting.notBefore > context.clock.now();
    if (isEarly) return { kind: "done", result: { delivery: "waiting" } };
    const receiver = receiverOf(waiting);
    const permission = limiter.acquire(receiver);
    if (permission.kind === "refused") return { kind: "delay", ms: Math.ceil(permission.forMs) };
    let exchange: Exchange | undefined;
    try {
      const token = randomUUID();
      const until = new Date(context.clock.now().getTime() + context.timings.lease.durationMs);
      const delivery = await deliveries.acquire(deliveryId, token, until);
      if (!delivery) return { kind: "done", result: { delivery: "over" } };
      const began = performance.now();
      const outcome = await attempt(deps, delivery, token, context);
      const durationMs = performance.now() - began;
      if (outcome.kind === "sent" || outcome.kind === "retry")
        exchange = { isAnswered: outcome.status !== null, durationMs };
      await storeOutcome(deps, delivery, token, outcome, context);
      return { kind: "done", result: { delivery: outcome.kind } };
    } finally {
      limiter.release(receiver, exchange);
    }
  };
}

/** Returns the name of a receiver: a rule, or all callbacks to one host. */
const receiverOf = ({ event, to }: Pick<DeliveryDoc, "event" | "to">): string =>
  typeof event?.rule === "string" ? `rule ${event.rule}` : `host ${to}`;

/** Tries once to send a webhook, and renews the lease meanwhile. */
async function attempt(
  { stores, settings, sender, metrics }: DeliverWebhookDeps,
  delivery: DeliveryDoc,
  token: string,
  context: RunContext,
): Promise<AttemptOutcome> {
  const { _id, event, webhook, failures, depth = 0 } = delivery;
  const failed = (reason: string): AttemptOutcome => ({ kind: "failed", status: null, reason });
  if (delivery.lease?.isTakenOver && failures > context.timings.retry.webhookMs.length) {
    return failed("The worker ended during the last attempt.");
  }
  if (!event || !webhook) return failed("The delivery has no request.");
  const target = webhookTarget(delivery, settings);
  if ("fault" in target) return failed(target.fault);
  const { clock, timings } = context;
  const body = Buffer.from(webhook.body);
  const headers = { ...target.headers, [DEPTH_HEADER]: String(depth + 1) };
  const message = { ...target, headers, id: event.id, body, contentType: webhook.contentType, now: clock.now() };
  const lease = {
    renew: (until: Date) => stores.deliveries.renew(_id, token, until),
    now: () => clock.now(),
  };
  return withLease(lease, timings.lease, async (lost) => {
    const outcome = await sender.send(message, AbortSignal.any([lost, context.signal]));
    if (outcome.kind === "stopped") return context.signal.aborted ? outcome : { kind: "lost" };
    metrics.deliveryAttempts.inc({ channel: CHANNEL, result: resultOf(outcome) });
    return outcome;
  });
}

/** Returns the result of an attempt in the words of the metric. */
function resultOf(outcome: Exclude<WebhookOutcome, { kind: "stopped" }>): WebhookResult {
  if (outcome.kind === "retry") return outcome.status === 429 ? "rate-limited" : "transient";
  if (outcome.kind === "failed") return outcome.status === 410 ? "gone" : "refused";
  return outcome.kind;
}

/** Stores how an attempt ended and enqueues the next one. Writes nothing when the lease is lost. */
async function storeOutcome(
  { stores: { deliveries }, metrics, requeue }: DeliverWebhookDeps,
  { _id, attempts, failures, event }: DeliveryDoc,
  token: string,
  outcome: AttemptOutcome,
  context: RunContext,
): Promise<void> {
  if (outcome.kind === "lost") return;
  const withRetry = <T>(write: () => Promise<T>) => retryWhileMongoIsDown(write, context);
  if (outcome.kind === "stopped") {
    await withRetry(() => deliveries.retryLater(_id, token, null));
    return requeue(_id, token, 0);
  }
  const { status } = outcome;
  const change: AttemptCounts = { attempts: attempts + 1, ...(status !== null && { lastStatus: status }) };
  const tries = failures + 1;
  const pauseMs = context.timings.retry.webhookMs[failures];
  if (outcome.kind === "retry" && pauseMs !== undefined) {
    const afterMs = Math.max(pauseMs * (1 + JITTER * Math.random()), outcome.retryAfterMs ?? 0);
    const notBefore = new Date(context.clock.now().getTime() + afterMs);
    const { reason } = outcome;
    await withRetry(() => deliveries.retryLater(_id, token, notBefore, { ...change, reason, failures: tries }));
    return requeue(_id, `at-${notBefore.getTime()}`, afterMs);
  }
  const isSent = outcome.kind === "sent";
  const gaveUp = outcome.kind === "retry" ? ` It was tried ${tries} times.` : "";
  const reason = isSent ? null : `${outcome.reason}${gaveUp}`;
  const isOurs = await withRetry(() => deliveries.end(_id, token, isSent ? "sent" : "failed", reason, change));
  if (!isOurs) return;
  metrics.deliveries.inc({ channel: CHANNEL, outcome: isSent ? "sent" : "failed" });
  if (!isSent) {
    const what = { deliveryId: _id, channel: CHANNEL, rule: event?.rule, status, reason };
    context.log.warn(what, "a delivery failed");
  }
}

/** The parts of the configuration that decide where webhooks are sent. */
type WebhookSettings = Pick<Config, "notify" | "outbound">;

/** The parts of a request that the configuration has now, when it is sent. */
type WebhookTarget = Pick<WebhookMessage, "url" | "isCallback" | "secrets" | "headers">;

const listOf = (secret: string | readonly string[]): readonly string[] =>
  typeof secret === "string" ? [secret] : secret;

/** Returns where a webhook is sent according to the configuration, or why it cannot be sent any more. */
function webhookTarget(
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
