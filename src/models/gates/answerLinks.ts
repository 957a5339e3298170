import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { mongo } from "mongoose";
import type { IdempotencyKeys } from "../idempotencyKey.ts";
import type { GateDoc } from "./gate.ts";

/** The part of a gate that its link is sealed for. */
type SealedGate = Pick<GateDoc, "_id" | "job">;

/** Bytes of a UUID, of an internal id, and of the seal. */
const [ID, JOB, SEAL] = [16, 12, 16] as const;
const HEAD = ID + JOB;

/**
 * Creates and verifies the tokens of links with which a person answers one gate without a log-in. A token holds the gate
 * and its job's internal id, sealed with a key that is derived from the database's secret. It lives as long as the gate, whose
 * time can be extended. Nothing is stored, and a restored database accepts the tokens that it accepted before.
 */
export class AnswerLinks {
  readonly #keys: Pick<IdempotencyKeys, "readSecret">;
  #key: Promise<Buffer> | undefined;

  constructor(keys: Pick<IdempotencyKeys, "readSecret">) {
    this.#keys = keys;
  }

  /** Returns the token of a gate. */
  async seal({ _id, job }: SealedGate): Promise<string> {
    const head = Buffer.concat([Buffer.from(_id.replaceAll("-", ""), "hex"), job.id]);
    return Buffer.concat([head, await this.#sealOf(head)]).toString("base64url");
  }

  /**
   * Verifies a token.
   * @returns the gate that it was sealed for; null if it is not one of this database
   */
  async open(token: string): Promise<SealedGate | null> {
    const bytes = Buffer.from(token, "base64url");
    // A second spelling of the same bytes is not the token.
    if (bytes.length !== HEAD + SEAL || bytes.toString("base64url") !== token) return null;
    const head = bytes.subarray(0, HEAD);
    if (!timingSafeEqual(bytes.subarray(HEAD), await this.#sealOf(head))) return null;
    return {
      _id: head.toString("hex", 0, ID).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
      job: new mongo.ObjectId(head.subarray(ID, ID + JOB)),
    };
  }

  async #sealOf(head: Buffer): Promise<Buffer> {
    this.#key ??= this.#deriveKey().catch((error: unknown) => {
      this.#key = undefined;
      throw error;
    });
    return createHmac("sha256", await this.#key)
      .update(head)
      .digest()
      .subarray(0, SEAL);
  }

  async #deriveKey(): Promise<Buffer> {
    return Buffer.from(hkdfSync("sha256", await this.#keys.readSecret(), "", "signalbox answer link", 32));
  }
}

/**
 * Returns the address at which a person answers a gate.
 * @param publicUrl the address of the service, with its base path
 */
export const answerUrl = async (links: AnswerLinks, publicUrl: string, gate: SealedGate): Promise<string> =>
  `${publicUrl.replace(/\/$/, "")}/answer/${await links.seal(gate)}`;
