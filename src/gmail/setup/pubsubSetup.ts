import { GoogleError } from "../api/googleError.ts";
import { googleFetch } from "../api/googleFetch.ts";
import { asArray, asText, PUBSUB, PUBSUB_URL, pubSubUrl } from "../api/pubsub.ts";
import type { GoogleAuth } from "../auth/googleAuth.ts";

/**
 * The outcome of a step. `corrected`: the resource existed with wrong settings. `unreadable`: the credentials may not read
 * it. A dry run returns what would have been done.
 */
type Ensured = "created" | "corrected" | "unchanged" | "unreadable";

/**
 * Creates the Pub/Sub resources that notifications need and corrects existing ones. All methods are idempotent; they throw
 * GoogleError, or the reason of an aborted signal.
 */
export interface PubSubSetup {
  /** Creates the topic. @param topic `projects/p/topics/t` */
  ensureTopic(topic: string, signal: AbortSignal): Promise<Ensured>;
  /**
   * Grants a member the right to publish to the topic. Returns `unreadable` if the policy may not be read: somebody else may have
   * granted the right, without which a watch fails.
   * @param member such as `GMAIL_PUBLISHER`
   */
  ensurePublisher(topic: string, member: string, signal: AbortSignal): Promise<Ensured>;
  /**
   * Creates a pull subscription that does not expire.
   * @param subscription `projects/p/subscriptions/s`
   */
  ensureSubscription(subscription: string, topic: string, signal: AbortSignal): Promise<Ensured>;
}

export interface PubSubSetupOptions {
  /** Replaces https://pubsub.googleapis.com. */
  readonly url?: string | undefined;
  /** Whether to read only, without changing anything. */
  readonly dryRun?: boolean;
  readonly timeoutMs?: number;
}

/** The service account by which Gmail publishes notifications. */
export const GMAIL_PUBLISHER = "serviceAccount:gmail-api-push@system.gserviceaccount.com";

const PUBLISHER_ROLE = "roles/pubsub.publisher";
const SUBSCRIPTION = { ackDeadlineSeconds: 60, messageRetentionDuration: "604800s", expirationPolicy: {} } as const;

/** Maximum attempts to write a policy that others change at the same time. */
const POLICY_ATTEMPTS = 3;

export function createPubSubSetup(auth: GoogleAuth, options: PubSubSetupOptions = {}): PubSubSetup {
  const { url: root = PUBSUB_URL, dryRun = false, timeoutMs = 30_000 } = options;

  const request = (method: "GET" | "POST" | "PUT" | "PATCH", path: string, signal: AbortSignal, body?: object) =>
    googleFetch(auth, PUBSUB, { method, url: pubSubUrl(root, path), timeoutMs, ...(body && { body }) }, signal);

  /** Returns a resource, or null if it does not exist. */
  const find = (path: string, signal: AbortSignal) => nullOnStatus(404, request("GET", path, signal));

  /** Creates a resource; a conflict means that somebody else created it in the meantime. */
  async function create(path: string, body: object, signal: AbortSignal): Promise<Ensured> {
    if (dryRun) return "created";
    return (await nullOnStatus(409, request("PUT", path, signal, body))) ? "created" : "unchanged";
  }

  return {
    async ensureTopic(topic, signal) {
      return (await find(topic, signal)) ? "unchanged" : create(topic, {}, signal);
    },

    async ensurePublisher(topic, member, signal) {
      for (let attempt = 1; ; attempt++) {
        // Only version 3 includes conditions, which would be lost when the policy is written back.
        const path = `${topic}:getIamPolicy?options.requestedPolicyVersion=3`;
        // In a dry run the topic may not exist yet.
        const looked = dryRun ? find(path, signal) : request("GET", path, signal);
        const policy = await looked.catch((error) => {
          if (error instanceof GoogleError && error.status === 403 && error.kind === "refused")
            return "unreadable" as const;
          throw error;
        });
        if (policy === "unreadable") return policy;
        const bindings = asArray(policy?.bindings);
        const own = bindings.find((binding) => binding?.role === PUBLISHER_ROLE && !binding.condition);
        if (asArray(own?.members).includes(member)) return "unchanged";
        if (dryRun) return "created";
        const members = [...asArray(own?.members), member];
        const others = bindings.filter((binding) => binding !== own);
        const body = { policy: { ...policy, bindings: [...others, { ...own, role: PUBLISHER_ROLE, members }] } };
        const written = nullOnStatus(
          409,
          request("POST", `${topic}:setIamPolicy`, signal, body),
          attempt < POLICY_ATTEMPTS,
        );
        if (await written) return "created";
      }
    },

    async ensureSubscription(subscription, topic, signal) {
      const found = await find(subscription, signal);
      if (!found) return create(subscription, { topic, ...SUBSCRIPTION }, signal);
      const { pushConfig, expirationPolicy } = found as {
        pushConfig?: { pushEndpoint?: unknown };
        expirationPolicy?: { ttl?: unknown };
      };
      if (found.topic !== topic) throw new GoogleError("refused", "The subscription belongs to another topic.");
      if (asText(pushConfig?.pushEndpoint))
        throw new GoogleError("refused", "The subscription is a push subscription, which cannot be pulled.");
      if (expirationPolicy && !expirationPolicy.ttl) return "unchanged";
      const body = { subscription: { name: subscription, expirationPolicy: {} }, updateMask: "expirationPolicy" };
      if (!dryRun) await request("PATCH", subscription, signal, body);
      return "corrected";
    },
  };
}

/** Returns null instead of throwing if the response has this status. */
async function nullOnStatus<T>(status: number, response: Promise<T>, applies = true): Promise<T | null> {
  try {
    return await response;
  } catch (error) {
    if (applies && error instanceof GoogleError && error.status === status) return null;
    throw error;
  }
}
