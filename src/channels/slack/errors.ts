import { retryAfterMs } from "../../shared/backoff.ts";
import { type ApiResponse, classifyStatus, codeOf, describeResponse, type Failure } from "../httpStatus.ts";

/** Slack's error codes by kind, with a hint where the code alone does not explain the problem. */
const REFUSALS: readonly (readonly [Failure["kind"], Readonly<Record<string, string>>])[] = [
  ["rate-limited", { ratelimited: "", rate_limited: "", message_limit_exceeded: "" }],
  [
    "ambiguous",
    {
      fatal_error: "part of the request may have been carried out",
      internal_error: "part of the request may have been carried out",
    },
  ],
  ["transient", { request_timeout: "", service_unavailable: "", team_added_to_org: "the workspace is being moved" }],
  [
    "authentication",
    {
      invalid_auth: "",
      not_authed: "",
      account_inactive: "",
      token_revoked: "",
      token_expired: "",
      missing_scope: "the app lacks a scope",
      not_allowed_token_type: "",
      team_access_not_granted: "",
      team_not_found: "",
      org_login_required: "the workspace is being moved",
      two_factor_setup_required: "",
      accesslimited: "access from this network is not allowed",
      app_access_restricted: "",
      enterprise_is_restricted: "",
      method_deprecated: "",
      deprecated_endpoint: "",
    },
  ],
  [
    "gone",
    {
      channel_not_found: "there is no such channel, or the bot cannot see it",
      not_in_channel: "invite the bot to the channel",
      is_archived: "the channel is archived",
      restricted_action: "",
      restricted_action_read_only_channel: "",
      restricted_action_thread_only_channel: "",
      restricted_action_non_threadable_channel: "",
      restricted_action_thread_locked: "",
      messages_tab_disabled: "the app does not accept direct messages",
      cannot_reply_to_message: "",
      thread_not_found: "",
      invalid_thread_ts: "",
      no_permission: "the bot may have to be a member of the channel",
      access_denied: "",
      ekm_access_denied: "administrators have suspended posting",
      user_not_found: "",
      users_not_found: "",
      user_not_visible: "",
      user_disabled: "",
      cannot_dm_bot: "",
      invalid_user_combination: "",
      method_not_supported_for_channel_type: "",
    },
  ],
];

/** Returns the error code of a refusal, which may have any status, mostly 200; undefined if the response is not Slack's. */
export function refusalCode({ json }: ApiResponse): string | undefined {
  return json?.ok === false ? (codeOf(json.error) ?? "unknown_error") : undefined;
}

/** Classifies a refusal. An unknown code with status 200 counts as `content`, since Slack would refuse the message again. */
export function classifyRefusal(response: ApiResponse, code: string): Failure {
  const { status, headers, json } = response;
  const entry = REFUSALS.find(([, codes]) => Object.hasOwn(codes, code));
  const summary = describeResponse("Slack", status, code);
  if (!entry)
    return status === 200 ? { kind: "content", reason: `${summary}.` } : classifyStatus("Slack", response, code);
  const [kind, hints] = entry;
  const hint = hints[code] ? `: ${hints[code]}` : "";
  const needed = typeof json.needed === "string" && /^[\w:.,-]{1,100}$/.test(json.needed) ? ` (${json.needed})` : "";
  const reason = `${summary}${hint}${needed}.`;
  return kind === "rate-limited"
    ? { kind, retryAfterMs: retryAfterMs(headers), scope: "channel", reason }
    : { kind, reason };
}
