import { sign } from "node:crypto";
import { readFileSync } from "node:fs";

/** The private key and the certificate with which the tests sign messages. */
export const SNS_PEM = readFileSync("test/fixtures/sns.pem", "utf8");

export type Message = Record<string, string>;

/** The signed fields in the order of the documentation of SNS. */
const SIGNED = ["Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];

/** Signs a message as Amazon SNS does; test/slow/sdks/sns.test.ts compares it to the library of AWS. */
export function signed(message: Message): Message {
  const text = SIGNED.flatMap((field) => (message[field] === undefined ? [] : [`${field}\n${message[field]}\n`])).join(
    "",
  );
  const algorithm = message.SignatureVersion === "1" ? "sha1" : "sha256";
  return { ...message, Signature: sign(algorithm, Buffer.from(text), SNS_PEM).toString("base64") };
}
