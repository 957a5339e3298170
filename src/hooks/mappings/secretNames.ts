/** Words by which senders name headers and parameters that hold secrets, such as `X-Gitlab-Token`, `api_key` and `sig`. */
const SECRET_WORD =
  /token|secret|passw|passcode|credential|bearer|assertion|signature|(^|[-_.])(api-?_?|access-?_?)?(key|auth|authorization|code|sig|jwt|pin|otp|hmac|session|sid|ticket|hash)($|[-_.])/i;

/** Returns whether the value of a header or parameter may be a secret by its name. */
export const isSecretName = (name: string): boolean => SECRET_WORD.test(name);

/** The headers whose values are no secret whoever sends them: of HTTP, of proxies, and the kinds and ids of events. */
const HARMLESS_HEADERS: ReadonlySet<string> = new Set([
  "accept",
  "accept-charset",
  "accept-encoding",
  "accept-language",
  "cache-control",
  "connection",
  "date",
  "expect",
  "content-encoding",
  "content-language",
  "content-length",
  "content-type",
  "host",
  "transfer-encoding",
  "user-agent",
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-proto",
  "x-real-ip",
  "cdn-loop",
  "cf-connecting-ip",
  "cf-ipcountry",
  "cf-ray",
  "traceparent",
  "x-amzn-trace-id",
  "x-request-id",
  "idempotency-key",
  "x-github-hook-id",
  "x-gitlab-instance",
  "x-shopify-shop-domain",
  "x-shopify-api-version",
  "sentry-hook-resource",
  "x-slack-retry-num",
  "x-slack-retry-reason",
  "svix-id",
  "webhook-id",
  "x-webhook-id",
  "ce-id",
  "ce-source",
  "ce-specversion",
  "ce-subject",
  "ce-time",
  "ce-type",
  "x-amz-sns-message-type",
  "x-amz-sns-message-id",
  "x-amz-sns-topic-arn",
  "x-amz-sns-subscription-arn",
  "x-hook-uuid",
  "x-attempt-number",
]);

/** The last word of the headers of many senders that say what a request is about, such as `X-GitHub-Event`. */
const HARMLESS_HEADER = /-(event|event-type|event-id|event-key|delivery|topic|timestamp|retry|attempt)$/;

/** The parameters of URLs that only say what a request is about. */
const HARMLESS_PARAMETERS: ReadonlySet<string> = new Set([
  "action",
  "api-version",
  "branch",
  "env",
  "environment",
  "event",
  "format",
  "lang",
  "limit",
  "locale",
  "page",
  "project",
  "ref",
  "repo",
  "service",
  "source",
  "team",
  "topic",
  "type",
  "v",
  "version",
]);

/** The names of headers and parameters that the conditions and templates of mappings read. */
export interface ReadNames {
  readonly headers: ReadonlySet<string>;
  readonly query: ReadonlySet<string>;
}

const NO_NAMES: ReadNames = { headers: new Set(), query: new Set() };

/** Returns whether the value of a header is no secret by its lower-case name. @param read the names that mappings read */
export const isHarmlessHeader = (name: string, { headers }: ReadNames = NO_NAMES): boolean =>
  HARMLESS_HEADERS.has(name) || ((HARMLESS_HEADER.test(name) || headers.has(name)) && !isSecretName(name));

/** Returns whether the value of a parameter is no secret by its name. @param read the names that mappings read */
export const isHarmlessParameter = (name: string, { query }: ReadNames = NO_NAMES): boolean =>
  HARMLESS_PARAMETERS.has(name) || (query.has(name) && !isSecretName(name));
