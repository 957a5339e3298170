import { randomUUID } from "node:crypto";
import type { Context, Next } from "koa";
import type { HookRequestDoc, NewHookRequest, RequestSignature } from "../../models/intake/hookRequest.ts";
import { type HookRequests, MAX_REFUSED } from "../../models/intake/hookRequests.ts";
import type { Clock } from "../../shared/clock.ts";
import { DelayedFlush } from "../../shared/delayedFlush.ts";
import { AppError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { AuthenticatedSender, RefusedSender } from "../auth/hookAuth.ts";
import { maskedHead, withoutSecrets } from "../auth/withoutSecrets.ts";

interface RefusedRequestsDeps {
  readonly hookRequests: HookRequests;
  readonly clock: Clock;
  readonly log: Logger;
  /** The interval at which the refused requests are stored. */
  readonly storeEveryMs: number;
}

/** Maximum characters of a name or a value of a refused request's head. */
const MAX_CHARS = 1_024;

/**
 * Collects the requests to hooks that this process refuses, and stores the newest of them together. An attack costs memory for
 * `MAX_REFUSED` heads and one write of that many documents at each interval, however many requests arrive.
 */
export class RefusedRequests {
  readonly #deps: RefusedRequestsDeps;
  #waiting: NewHookRequest[] = [];
  readonly #flush: DelayedFlush;

  constructor(deps: RefusedRequestsDeps) {
    this.#deps = deps;
    this.#flush = new DelayedFlush(() => this.#store(), deps.storeEveryMs);
  }

  /** Passes a request to a hook on, and collects it if it is refused. Returns the same as `next`. */
  async collect(ctx: Context, hook: string, next: Next): Promise<unknown> {
    try {
      return await next();
    } catch (error) {
      if (error instanceof AppError && error.status < 500) this.#add(this.#requestOf(ctx, hook, error));
      throw error;
    }
  }

  /** Stores what has been collected. Failures are only logged: nobody waits for these records. */
  flush(): Promise<void> {
    return this.#flush.flush();
  }

  async #store(): Promise<void> {
    const requests = this.#waiting.splice(0);
    if (requests.length === 0) return;
    await this.#deps.hookRequests.addRefused(requests).catch((error: unknown) => {
      this.#deps.log.warn({ err: error, requests: requests.length }, "refused requests could not be stored");
    });
  }

  #add(request: NewHookRequest): void {
    this.#waiting.push(request);
    if (this.#waiting.length > MAX_REFUSED) this.#waiting.shift();
    this.#flush.schedule();
  }

  #requestOf(ctx: Context, hook: string, { status, code, message }: AppError): NewHookRequest {
    const sender = ctx.state.authContext as AuthenticatedSender | undefined;
    const accepted = sender && { mapping: sender.mapping.key, signature: sender.received.signature };
    const { mapping, signature, reason }: RefusedSender = accepted ?? ctx.state.refusedSender ?? NO_SENDER;
    const isRefusedBySignature = signature && signature.verdict !== "valid";
    const refused: Pick<HookRequestDoc, "outcome" | "status" | "code" | "reason"> = {
      outcome: "refused",
      status,
      code,
      reason: cut(reason ?? (isRefusedBySignature ? describeVerdict(signature) : message)),
    };
    return {
      _id: randomUUID(),
      createdAt: this.#deps.clock.now(),
      hook: cut(hook),
      mapping,
      signature,
      ...refused,
      address: ctx.ip,
      contentType: cut(ctx.get("Content-Type")) || null,
      head: JSON.stringify(maskedHead(withoutSecrets(ctx)), (_, value) =>
        typeof value === "string" ? cut(value) : value,
      ),
      body: null,
      bodyBytes: ctx.request.length ?? null,
    };
  }
}

const NO_SENDER: RefusedSender = { mapping: null, signature: null };

const cut = (text: string): string => text.slice(0, MAX_CHARS).toWellFormed();

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
function describeVerdict({ type, verdict }: RequestSignature): string {
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
