/** Why a log-in failed; each has a page of its own. */
export type FaultKind = "away" | "clock" | "issuer" | "denied" | "refused" | "overage" | "unverified";

/** A log-in that failed. The message is for the log, without tokens. */
export class LoginFault extends Error {
  readonly kind: FaultKind;

  constructor(kind: FaultKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Codes of openid-client by which a response did not come, or came from something else than the provider. */
const AWAY: readonly unknown[] = [
  "OAUTH_TIMEOUT",
  "OAUTH_ABORT",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_PARSE_ERROR",
];
/** Maximum characters of a reason in the log: the provider chooses the error in its answer. */
const MAX_REASON_CHARS = 300;
/** Errors of the protocol by which the provider reports that it is unavailable. */
const AWAY_ERRORS: readonly unknown[] = ["server_error", "temporarily_unavailable"];

interface Thrown {
  readonly name?: string;
  readonly message?: string;
  readonly code?: unknown;
  readonly status?: number;
  readonly error?: unknown;
  readonly cause?: { readonly claim?: unknown; readonly cause?: { readonly claim?: unknown } };
}

/** Returns the fault that an error of openid-client means. Its cause may hold tokens, so that only its message is kept. */
export function faultOf(error: unknown): LoginFault {
  if (error instanceof LoginFault) return error;
  const thrown = error as Thrown;
  const text = [thrown.message, thrown.code, thrown.error].filter((part) => typeof part === "string").join(", ");
  return new LoginFault(kindOf(thrown), text.slice(0, MAX_REASON_CHARS));
}

function kindOf({ name, code, status = 0, error, cause }: Thrown): FaultKind {
  if (name === "TypeError" && code === undefined) return "away"; // fetch has failed
  if (AWAY.includes(code) || AWAY_ERRORS.includes(error) || status >= 500) return "away";
  if (code === "OAUTH_JWT_TIMESTAMP_CHECK_FAILED") return "clock";
  if (code === "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED") return "issuer";
  if ([cause?.claim, cause?.cause?.claim].includes("iss")) return "issuer";
  if (error === "access_denied") return "denied";
  return error === undefined ? "unverified" : "refused";
}
