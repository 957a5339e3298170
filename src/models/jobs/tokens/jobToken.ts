import { createHmac, timingSafeEqual } from "node:crypto";
import { parseJson } from "../../../shared/text/json.ts";
import type { OneJob } from "../jobScope.ts";

/**
 * The access that a job token gives to its job: `read` reads it, `report` also reports its steps, and `run` is the token of an
 * agent run, which also creates and reports the jobs that the run starts.
 */
export type JobTokenScope = "report" | "read" | "run";

/** The content of a job token. It names the internal id of its job, so that it ends with the job. */
export interface JobTokenClaims extends OneJob {
  readonly scope: JobTokenScope;
  readonly expiresAt: Date;
}

const PREFIX = "sbj_";
const FORM = /^sbj_([\w-]{1,2048})\.([\w-]{43})$/;

/** Returns whether a text looks like a job token, whether it is valid or not. */
export const isJobToken = (token: string): boolean => token.startsWith(PREFIX);

/**
 * Seals a job token. It is stored nowhere: its content and an HMAC-SHA256 of it are the token.
 * @param secret a secret of the service
 */
export function sealJobToken(claims: JobTokenClaims, secret: string): string {
  const { jobId, internalId, scope, expiresAt } = claims;
  const content = JSON.stringify([jobId, internalId, scope, Math.floor(expiresAt.getTime() / 1_000)]);
  const text = Buffer.from(content).toString("base64url");
  return `${PREFIX}${text}.${mac(text, secret).toString("base64url")}`;
}

/**
 * Returns the content of a job token that one of the secrets has sealed, or null. The caller checks the expiry and the job.
 * @param secrets several while one replaces another
 */
export function openJobToken(token: string, secrets: readonly string[]): JobTokenClaims | null {
  const [, text, given] = FORM.exec(token) ?? [];
  if (text === undefined || given === undefined) return null;
  const seal = Buffer.from(given, "base64url");
  const isSealed = secrets.map((secret) => timingSafeEqual(mac(text, secret), seal)).includes(true);
  if (!isSealed) return null;
  const [jobId, internalId, scope, expiresAt] = parseJson(Buffer.from(text, "base64url").toString()) as [
    ...[jobId: string, internalId: string, scope: JobTokenScope, expiresAt: number],
  ];
  return { jobId, internalId, scope, expiresAt: new Date(expiresAt * 1_000) };
}

/** Computes the seal with a key of its own, so that nothing else that the secret signs can be taken for a token. */
function mac(text: string, secret: string): Buffer {
  const key = createHmac("sha256", secret).update("signalbox job token").digest();
  return createHmac("sha256", key).update(text).digest();
}
