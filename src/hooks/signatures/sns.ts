import { type KeyObject, verify } from "node:crypto";
import { TOPIC_ARN_PATTERN } from "../../config/mappings/auth.ts";
import { isObject } from "../../shared/text/json.ts";
import { type HeaderValues, singleHeader } from "./readSignature.ts";
import { SenderRefusedError } from "./signature.ts";

/**
 * Amazon SNS over HTTP. Each message names the certificate that it is signed with, at an address of SNS in the region of its
 * topic. `topicArns` are the topics whose messages are accepted, because everybody can have a topic of their own.
 * Source: https://docs.aws.amazon.com/sns/latest/dg/sns-verify-signature-of-message.html
 */
export interface SnsAuth {
  readonly type: "sns";
  readonly topicArns: readonly string[];
  readonly toleranceSeconds?: number | undefined;
}

/** A message of SNS. The kinds other than notifications ask to confirm that a subscription begins or ends. */
export interface SnsMessage {
  readonly Type: "Notification" | "SubscriptionConfirmation" | "UnsubscribeConfirmation";
  readonly MessageId: string;
  readonly TopicArn: string;
  readonly Timestamp: string;
  readonly Signature: string;
  readonly SignatureVersion: "1" | "2";
  readonly SigningCertURL: string;
  readonly Message: string;
  readonly Subject?: string;
  readonly SubscribeURL?: string;
  readonly Token?: string;
}

/** SNS repeats a message for up to an hour with its first time, by the longest policy of a topic. */
const DEFAULT_TOLERANCE_SECONDS = 3_600;

/** The signed fields of each type, in the order in which they are signed. */
const SIGNED = {
  Notification: ["Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"],
  SubscriptionConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
  UnsubscribeConfirmation: ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"],
} as const;

const ALGORITHMS = { "1": "sha1", "2": "sha256" } as const;

const ARN = new RegExp(TOPIC_ARN_PATTERN);
const CERTIFICATE_PATH = /^\/SimpleNotificationService-[\w.-]+\.pem$/;

/** Checks the topic that the headers name, before the body is read. @throws SenderRefusedError */
export function checkSnsHeaders({ topicArns }: SnsAuth, headers: HeaderValues): void {
  if (!topicArns.includes(singleHeader(headers, "x-amz-sns-topic-arn"))) throw new SenderRefusedError("wrong");
}

/**
 * Reads a message of one of the topics, without verifying it.
 * @throws SenderRefusedError if it is none, or names a certificate of another host
 */
export function readSnsMessage({ topicArns }: SnsAuth, rawBody: Buffer): SnsMessage {
  const message = parse(rawBody);
  if (!isObject(message) || !Object.hasOwn(SIGNED, String(message.Type))) throw new SenderRefusedError("malformed");
  const { Type, SignatureVersion } = message as { Type: SnsMessage["Type"]; SignatureVersion?: unknown };
  if (SignatureVersion !== "1" && SignatureVersion !== "2") throw new SenderRefusedError("malformed");
  for (const field of ["Signature", "SigningCertURL", ...SIGNED[Type]]) {
    const isAbsent = field === "Subject" && (message[field] === undefined || message[field] === null);
    if (!isAbsent && typeof message[field] !== "string") throw new SenderRefusedError("malformed");
  }
  const read = message as unknown as SnsMessage;
  if (!topicArns.includes(read.TopicArn)) throw new SenderRefusedError("wrong");
  const url = snsUrl(read.TopicArn, read.SigningCertURL);
  if (url?.search !== "" || !CERTIFICATE_PATH.test(url.pathname)) throw new SenderRefusedError("wrong");
  return read;
}

/**
 * Verifies a message with the key of its certificate.
 * @param key null if the certificate is not a valid one of SNS
 * @throws SenderRefusedError
 */
export function verifySnsMessage(auth: SnsAuth, message: SnsMessage, key: KeyObject | null, now: Date): void {
  const { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS } = auth;
  const distanceMs = Math.abs(now.getTime() - Date.parse(message.Timestamp));
  if (Number.isNaN(distanceMs)) throw new SenderRefusedError("malformed");
  if (distanceMs > toleranceSeconds * 1_000) throw new SenderRefusedError("expired");
  const signed = SIGNED[message.Type]
    .filter((field) => typeof message[field as keyof SnsMessage] === "string")
    .map((field) => `${field}\n${message[field as keyof SnsMessage]}\n`)
    .join("");
  const signature = Buffer.from(message.Signature, "base64");
  const isValid = key && verify(ALGORITHMS[message.SignatureVersion], Buffer.from(signed), key, signature);
  if (!isValid) throw new SenderRefusedError("wrong");
}

/** Returns an address of SNS in the region of a topic, or null if the text is another address. */
export function snsUrl(topicArn: string, text: string): URL | null {
  const [, partition, , region] = ARN.test(topicArn) ? topicArn.split(":") : [];
  const url = URL.parse(text);
  const host = `sns.${region}.amazonaws.com${partition === "aws-cn" ? ".cn" : ""}`;
  const isSns = url?.protocol === "https:" && url.host === host && url.username === "" && url.password === "";
  return isSns ? url : null;
}

function parse(rawBody: Buffer): unknown {
  try {
    return JSON.parse(rawBody.toString("utf8"));
  } catch {
    throw new SenderRefusedError("malformed");
  }
}
