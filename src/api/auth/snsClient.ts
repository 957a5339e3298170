import { type KeyObject, X509Certificate } from "node:crypto";
import { type SnsAuth, type SnsMessage, snsUrl } from "../../hooks/signatures/sns.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";

export type SnsFetch = (url: URL, init: RequestInit) => Promise<Response>;

/** Time limit of one request to SNS, which waits 15 s for the answer to its own. */
const TIMEOUT_MS = 5_000;
/** Maximum size of an answer in bytes. A certificate has about two thousand. */
const MAX_BYTES = 65_536;
/** Maximum certificates that are remembered. SNS replaces that of a region about once a year. */
const MAX_CERTIFICATES = 100;
/**
 * Maximum certificates that are fetched within `WINDOW_MS`. Everybody who knows the name of a topic can cause a fetch, by a
 * message that names another certificate.
 */
const MAX_FETCHES = 20;
const WINDOW_MS = 60_000;

/**
 * Fetches the certificates of Amazon SNS and confirms subscriptions to its topics. Calls only hosts of SNS in the region of a
 * configured topic, over HTTPS, and follows no redirects.
 */
export class SnsClient {
  readonly #clock: Clock;
  readonly #fetch: SnsFetch;
  readonly #certificates = new Map<string, Promise<X509Certificate>>();
  #fetches: number[] = [];

  constructor(clock: Clock, send: SnsFetch = fetch) {
    this.#clock = clock;
    this.#fetch = send;
  }

  /**
   * Returns the key of the certificate that a message names; null if that is no valid certificate.
   * @throws AppError unavailable if it cannot be fetched, so that SNS sends the message again
   */
  async keyOf({ SigningCertURL: url }: SnsMessage): Promise<KeyObject | null> {
    const known = this.#certificates.get(url) ?? this.#remember(url);
    try {
      const { publicKey, validFromDate, validToDate } = await known;
      const now = this.#clock.now();
      return validFromDate <= now && now <= validToDate ? publicKey : null;
    } catch (error) {
      this.#certificates.delete(url);
      if (error instanceof AppError && error.code === "unavailable") throw error;
      return null;
    }
  }

  /** Confirms a subscription. @throws AppError unavailable, so that SNS asks again; unauthorized if its address is none of SNS */
  async confirm({ topicArns }: SnsAuth, { TopicArn: topicArn, SubscribeURL = "" }: SnsMessage): Promise<void> {
    const url = topicArns.includes(topicArn) ? snsUrl(topicArn, SubscribeURL) : null;
    if (!url) throw new AppError("unauthorized", { detail: "The SubscribeURL is not an address of Amazon SNS." });
    await this.#get(url);
  }

  #remember(url: string): Promise<X509Certificate> {
    const now = this.#clock.now().getTime();
    this.#fetches = this.#fetches.filter((at) => at > now - WINDOW_MS);
    if (this.#fetches.length >= MAX_FETCHES) throw unavailable("too many certificates were fetched within a minute");
    this.#fetches.push(now);
    const fetching = this.#get(new URL(url)).then((text) => new X509Certificate(text));
    const [oldest] = this.#certificates.keys();
    if (this.#certificates.size >= MAX_CERTIFICATES && oldest !== undefined) this.#certificates.delete(oldest);
    this.#certificates.set(url, fetching);
    return fetching;
  }

  async #get(url: URL): Promise<string> {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await this.#fetch(url, { redirect: "manual", signal }).catch(() => {
      throw unavailable(`${url.host} cannot be reached`);
    });
    const { ok, status } = response;
    if (ok) return readText(response, url);
    await response.body?.cancel();
    if (status >= 500 || status === 429) throw unavailable(`${url.host} answered with the status ${status}`);
    throw new AppError("unauthorized", { detail: `Amazon SNS did not find the address that the message contains.` });
  }
}

async function readText({ body }: Response, url: URL): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body ?? []) {
      size += chunk.length;
      if (size > MAX_BYTES) throw new Error("the answer is too large");
      chunks.push(chunk);
    }
  } catch (error) {
    throw unavailable(`the answer of ${url.host} could not be read: ${(error as Error).message}`);
  }
  return Buffer.concat(chunks).toString("utf8");
}

const unavailable = (reason: string): AppError =>
  new AppError("unavailable", { detail: `The message of Amazon SNS cannot be processed now: ${reason}.` });
