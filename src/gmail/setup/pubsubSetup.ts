import { asArray, asText } from "../api/coerce.ts";
import { GoogleError } from "../api/googleError.ts";
import { googleFetch } from "../api/googleFetch.ts";
import { PUBSUB, PUBSUB_URL, pubSubUrl } from "../api/pubsub.ts";
import type { GoogleAuth } from "../auth/googleAuth.ts";

/**
 * `mended`: it was there, and was not as it must be. `unseen`: only others may look. On a dry run, what would have been done.
 */
type Ensured = "made" | "mended" | "was there" | "unseen";

/**
 * Sees to what notices need, and changes nothing that is right already. Calls throw GoogleError, or the reason of an aborted
 * signal.
 */
export interface PubSubSetup {
  /** @param topic `projects/p/topics/t` */
  ensureTopic(topic: string, signal: AbortSignal): Promise<Ensured>;
  /**
   * Where the policy may not even be looked at, somebody else may have granted it: a watch fails while nobody has.
   * @param member such as `GMAIL_PUBLISHER`
   */
  ensurePublisher(topic: string, member: string, signal: AbortSignal): Promise<Ensured>;
  /**
   * A pull subscription that does not expire.
   * @param subscription `projects/p/subscriptions/s`
   */
  ensureSubscription(subscription: string, topic: string, signal: AbortSignal): Promise<Ensured>;
}

export interface PubSubSetupOptions {
  /** Instead of https://pubsub.googleapis.com. */
  readonly url?: string | undefined;
  /** Looks, and changes nothing. */
  readonly dryRun?: boolean;
  readonly timeoutMs?: number;
}

/** Who Gmail's notices come from. */
export const GMAIL_PUBLISHER = "serviceAccount:gmail-api-push@system.gserviceaccount.com";

const PUBLISHER_ROLE = "roles/pubsub.publisher";
const SUBSCRIPTION = { ackDeadlineSeconds: 60, messageRetentionDuration: "604800s", expirationPolicy: {} } as const;

/** A policy that another changed in between is read and written again. */
const POLICY_ATTEMPTS = 3;

export function createPubSubSetup(auth: GoogleAuth, options: PubSubSetupOptions = {}): PubSubSetup {
  const { url: root = PUBSUB_URL, dryRun = false, timeoutMs = 30_000 } = options;

  const request = (method: "GET" | "POST" | "PUT" | "PATCH", path: string, signal: AbortSignal, body?: object) =>
    googleFetch(auth, PUBSUB, { method, url: pubSubUrl(root, path), timeoutMs, ...(body && { body }) }, signal);

  /** Null where there is none. */
  const find = (path: string, signal: AbortSignal) => nullOnStatus(404, request("GET", path, signal));

  /** Another who made it in the meantime has made it all the same. */
  async function create(path: string, body: object, signal: AbortSignal): Promise<Ensured> {
    if (dryRun) return "made";
    return (await nullOnStatus(409, request("PUT", path, signal, body))) ? "made" : "was there";
  }

  return {
    async ensureTopic(topic, signal) {
      return (await find(topic, signal)) ? "was there" : create(topic, {}, signal);
    },

    async ensurePublisher(topic, member, signal) {
      for (let attempt = 1; ; attempt++) {
        // Version 3 is the one that shows conditions; written back without them, they would be lost.
        const path = `${topic}:getIamPolicy?options.requestedPolicyVersion=3`;
        // On a dry run there may be no topic yet.
        const looked = dryRun ? find(path, signal) : request("GET", path, signal);
        const policy = await looked.catch((error) => {
          if (error instanceof GoogleError && error.status === 403 && error.kind === "refused")
            return "unseen" as const;
          throw error;
        });
        if (policy === "unseen") return policy;
        const bindings = asArray(policy?.bindings);
        const own = bindings.find((binding) => binding?.role === PUBLISHER_ROLE && !binding.condition);
        if (asArray(own?.members).includes(member)) return "was there";
        if (dryRun) return "made";
        const members = [...asArray(own?.members), member];
        const others = bindings.filter((binding) => binding !== own);
        const body = { policy: { ...policy, bindings: [...others, { ...own, role: PUBLISHER_ROLE, members }] } };
        const written = nullOnStatus(
          409,
          request("POST", `${topic}:setIamPolicy`, signal, body),
          attempt < POLICY_ATTEMPTS,
        );
        if (await written) return "made";
      }
    },

    async ensureSubscription(subscription, topic, signal) {
      const found = await find(subscription, signal);
      if (!found) return create(subscription, { topic, ...SUBSCRIPTION }, signal);
      const { pushConfig, expirationPolicy } = found as {
        pushConfig?: { pushEndpoint?: unknown };
        expirationPolicy?: { ttl?: unknown };
      };
      if (found.topic !== topic) throw new GoogleError("refused", "The subscription is one of another topic.");
      if (asText(pushConfig?.pushEndpoint))
        throw new GoogleError("refused", "The subscription pushes: it cannot be pulled.");
      if (expirationPolicy && !expirationPolicy.ttl) return "was there";
      const body = { subscription: { name: subscription, expirationPolicy: {} }, updateMask: "expirationPolicy" };
      if (!dryRun) await request("PATCH", subscription, signal, body);
      return "mended";
    },
  };
}

/** Null for an answer with this status. */
async function nullOnStatus<T>(status: number, answer: Promise<T>, applies = true): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (applies && error instanceof GoogleError && error.status === status) return null;
    throw error;
  }
}
