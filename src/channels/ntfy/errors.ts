import { type ApiResponse, classifyStatus, describeResponse, type Failure } from "../httpStatus.ts";

/** Codes about the topic: every message to it fails. */
const TOPIC_CODES: Readonly<Record<number, string>> = {
  40009: "the topic name is not valid",
  40010: "the topic name is not allowed",
  40301: "the token is not allowed to publish to this topic",
};

/** Codes about the message: a longer one than the server takes becomes an attachment, which may be off or too large. */
const CONTENT_CODES: Readonly<Record<number, string>> = {
  40011: "the text was rejected",
  40014: "the message is too long",
  41301: "the message is too long",
};

/**
 * Classifies a response of ntfy. The reason shows only ntfy's code: with another server, its text may quote the message.
 * Source: server/errors.go of ntfy
 */
export function classifyResponse(response: ApiResponse): Failure | { readonly kind: "sent"; readonly id: string } {
  const { status, json } = response;
  const id = json?.id;
  if (status === 200 && typeof id === "string" && id !== "" && json.event === "message") return { kind: "sent", id };
  const code: number | undefined = Number.isSafeInteger(json?.code) ? json.code : undefined;
  const failure = classifyStatus("ntfy", response, code);
  if (code === undefined || status < 400) return failure;
  const because = (words: string) => `${describeResponse("ntfy", status, code)}: ${words}.`;
  const aboutTopic = TOPIC_CODES[code];
  if (aboutTopic) return { kind: "gone", reason: because(aboutTopic) };
  const aboutContent = CONTENT_CODES[code];
  return aboutContent ? { kind: "content", reason: because(aboutContent) } : failure;
}
