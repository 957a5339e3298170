import { randomUUID } from "node:crypto";
import { isObject } from "../../shared/text/json.ts";

/** The error of JSON-RPC that refuses a message before the SDK reads it. */
export interface MessageFault {
  readonly code: -32600 | -32602;
  readonly message: string;
}

/** Maximum values in a message besides the arguments of a tool. The SDK copies and checks each of them several times. */
const MAX_VALUES = 1_000;

/** Parameters that must be texts, by method, and what they are. */
const TEXTS: Readonly<Record<string, readonly [name: string, what: string]>> = {
  "tools/call": ["name", "the name of a tool"],
  "resources/read": ["uri", "the URI of a resource"],
  initialize: ["protocolVersion", "a revision of the protocol"],
};

/** Parameters that must be objects where they are given. */
const OBJECTS = ["_meta", "task", "capabilities", "clientInfo"];

/** Returns why a body is no message that this endpoint takes; null if it is one. */
export function findFault(body: unknown): MessageFault | null {
  if (Array.isArray(body))
    return { code: -32600, message: "Send one message in each POST: batches are not supported." };
  const { method, params = {} } = body as { method?: unknown; params?: unknown };
  const args = argumentsOf(body);
  const envelope = isObject(params) && args ? { ...(body as object), params: { ...params, arguments: null } } : body;
  if (countValues(envelope, MAX_VALUES) > MAX_VALUES) {
    const message = `A message must have at most ${MAX_VALUES} values besides the arguments of a tool.`;
    return { code: -32600, message };
  }
  if (!isObject(params)) return null; // the SDK refuses it
  const [name, what] = TEXTS[String(method)] ?? [];
  if (name !== undefined && typeof params[name] !== "string")
    return { code: -32602, message: `\`params.${name}\` must be ${what}.` };
  const wrong = OBJECTS.find((one) => params[one] !== undefined && !isObject(params[one]));
  if (wrong !== undefined) return { code: -32602, message: `\`params.${wrong}\` must be an object.` };
  if (args == null || isObject(args)) return null;
  return { code: -32602, message: "`params.arguments` must be an object: send {} for a tool without arguments." };
}

/** Returns the number of values in a value, itself included; a larger number than `max` once it is exceeded. */
function countValues(value: unknown, max: number): number {
  let count = 1;
  if (typeof value !== "object" || value === null || max < 1) return count;
  for (const part of Object.values(value)) {
    count += countValues(part, max - count);
    if (count > max) break;
  }
  return count;
}

/** Returns the arguments of a call of a tool; undefined for another message. */
function argumentsOf(body: unknown): unknown {
  const { method, params } = body as { method?: unknown; params?: unknown };
  return method === "tools/call" && isObject(params) ? params.arguments : undefined;
}

/** Matches the digits that `parseJson` returns for a number that a double cannot hold. */
const DIGITS = /^-?\d[\d.]*(?:[eE][+-]?\d+)?$/;

/**
 * Prepares a message for the SDK, in place. Absent arguments may be null. An id and a progress token must come back with the digits that
 * they have in the request. `parseJson` keeps those of large numbers as a text, which would come back in quotation marks; a
 * stand-in tells it apart from a text of the client.
 * @param raw the bytes of the body
 * @returns a function that puts the digits back into the text of the response
 */
export function prepareMessage(
  message: Record<string, unknown>,
  raw: Uint8Array | undefined,
): (text: string) => string {
  if (argumentsOf(message) === null) Object.assign(message.params as object, { arguments: {} });
  const standIns = new Map<string, string>();
  const plain = raw && hasDigits(message) ? (JSON.parse(new TextDecoder().decode(raw)) as Record<string, unknown>) : {};
  const replace = (holder: Record<string, unknown>, name: string, written: unknown) => {
    const digits = holder[name];
    if (typeof written !== "number" || typeof digits !== "string") return;
    const standIn = randomUUID();
    standIns.set(standIn, digits);
    holder[name] = standIn;
  };
  replace(message, "id", plain.id);
  replace(metaOf(message), "progressToken", metaOf(plain).progressToken);
  return (text) =>
    [...standIns].reduce((restored, [standIn, digits]) => restored.replaceAll(`"${standIn}"`, digits), text);
}

const hasDigits = (message: Record<string, unknown>): boolean =>
  [message.id, metaOf(message).progressToken].some((one) => typeof one === "string" && DIGITS.test(one));

/** Returns the metadata of a message; an empty object if it has none. */
function metaOf({ params }: Record<string, unknown>): Record<string, unknown> {
  const meta = isObject(params) ? params._meta : undefined;
  return isObject(meta) ? meta : {};
}
