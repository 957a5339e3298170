import { retryAfterMs } from "../../shared/backoff.ts";
import { type ApiResponse, classifyStatus, describeResponse, type Failure } from "../httpStatus.ts";

type Kind = Exclude<Failure["kind"], "rate-limited">;

const HOUR_MS = 60 * 60_000;

/**
 * Rate limits by code: their scope, and the delay to use if the response names none; null if WhatsApp's documentation names
 * none either.
 */
const RATE_LIMIT_CODES: Readonly<
  Record<number, readonly [scope: "channel" | "recipient", waitMs: number | null, words: string]>
> = {
  4: ["channel", null, "the app has made too many calls"],
  80007: ["channel", null, "the business account has made too many calls"],
  130429: ["channel", null, "the number sends too fast"],
  131056: ["recipient", 6_000, "too many messages to this number in a short time"],
  // Messages to others would fail as well and make the restriction worse.
  131048: [
    "channel",
    HOUR_MS,
    "the number is restricted, because too many of its messages were blocked or reported as spam",
  ],
};

const CODES_BY_KIND: readonly (readonly [Kind, Readonly<Record<number, string>>])[] = [
  [
    "authentication",
    {
      0: "the token is no longer valid",
      3: "the app lacks a capability or a permission",
      10: "the permission is missing or was withdrawn",
      33: "there is no such number",
      190: "the token has expired or is not valid",
      368: "the account is restricted, because it has violated a policy",
      131005: "the permission is missing or was withdrawn",
      131031: "the account is locked",
      131037: "the number's display name is not approved yet",
      131042: "there is a problem with the payment method",
      131045: "the number is not registered correctly",
      133010: "the number is not registered",
    },
  ],
  [
    "gone",
    {
      130472: "the number is part of an experiment by Meta and receives no such messages",
      130497: "the account is not allowed to write to this country",
      131021: "the recipient is the sender itself",
      131026: "the message cannot be delivered: the number may not be on WhatsApp, or use a version that is too old",
      131030: "the number is not in the list of numbers that a test account may write to",
      131047: "more than 24 hours have passed since the recipient last wrote, after which only a template may be sent",
      // Meta demands a delay of at least a day and refuses earlier retries, which is too late for a reply.
      131049: "Meta does not deliver it, because this number receives too many messages from businesses",
      131050: "the recipient has opted out of such messages",
    },
  ],
  [
    "content",
    {
      100: "a parameter is not valid",
      131008: "a parameter is missing",
      131009: "a parameter's value is not valid",
      131051: "this kind of message is not supported",
    },
  ],
  [
    "transient",
    {
      1: "an error of the API, or an invalid request",
      2: "the service is temporarily down or overloaded",
      131000: "WhatsApp had an internal error",
      131016: "the service is temporarily overloaded",
      131057: "the account is under maintenance",
      133016: "the number was registered too often in a short time",
    },
  ],
];

/** Classifies a response with an `error`. The reason shows only the code: Meta's texts quote tokens and parameters. */
export function classifyError(response: ApiResponse): Failure {
  const { status, headers, json } = response;
  const { code, error_subcode: subcode } = json.error;
  if (!Number.isInteger(code)) return classifyStatus("WhatsApp", response);
  const because = (words: string) => `${describeResponse("WhatsApp", status, code)}: ${words}.`;
  const limit = RATE_LIMIT_CODES[code];
  if (limit) {
    const [scope, waitMs, words] = limit;
    return { kind: "rate-limited", retryAfterMs: retryAfterMs(headers) ?? waitMs, scope, reason: because(words) };
  }
  // The Graph API reports an unknown object this way: here the sending number, not the text.
  if (code === 100 && subcode === 33) {
    return { kind: "authentication", reason: because("there is no such phoneNumberId, or none for this token") };
  }
  const [kind, words] = CODES_BY_KIND.find(([, codes]) => code in codes) ?? [];
  if (kind) return { kind, reason: because(words?.[code] ?? "") };
  if (code >= 200 && code <= 299) return { kind: "authentication", reason: because("a permission is missing") };
  if (status < 300) return { kind: "transient", reason: because("the response is a success that contains an error") };
  const failure = classifyStatus("WhatsApp", response, code);
  // An unknown code of a 4xx is permanent, except for 408, a time-out.
  return failure.kind === "transient" && status >= 400 && status < 500 && status !== 408
    ? { kind: "content", reason: because("the message was rejected") }
    : failure;
}
