import { randomUUID } from "node:crypto";
import type { Context, Next } from "koa";
import type { HookRequestDoc, NewHookRequest } from "../../models/intake/hookRequest.ts";
import { type HookRequests, MAX_REFUSED } from "../../models/intake/hookRequests.ts";
import type { Clock } from "../../shared/clock.ts";
import { DelayedFlush } from "../../shared/delayedFlush.ts";
import { AppError } from "../../shared/errors.ts";
import type { Logger } from "../../shared/logger.ts";
import type { AuthenticatedSender, RefusedSender } from "../auth/hookAuth.ts";
import { maskedHead, withoutSecrets } from "../auth/withoutSecrets.ts";
import { describeVerdict } from "./refusalReason.ts";

export interface RefusedRequestsDeps {
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
