import type { EditOutcome, Pace } from "../channel.ts";
import { type ApiResponse, classifyStatus, describeResponse } from "../httpStatus.ts";
import { classifyRefusal, refusalCode } from "./errors.ts";

/** Codes of messages that were deleted, or that the workspace permits to edit no longer. */
const MISSING = ["message_not_found", "cant_update_message", "edit_window_closed", "is_inactive"];

/** `chat.update` is a method of tier 3, which permits 50 requests a minute in the whole workspace. */
const PACE: Pace = { editMs: 3_000, firstMs: 1_000, channelMs: 1_250 };
export const paceOf = (): Pace => PACE;

/** Returns the channel and the time stamp of a message from the id with which it was sent. */
export function messageFields(id: string): { readonly channel: string; readonly ts: string } {
  const [channel = "", ts = ""] = id.split(":");
  return { channel, ts };
}

/** Returns how an edit (`chat.update`) ended. */
export function editOutcome(response: ApiResponse, id: string): EditOutcome {
  if (response.json?.ok === true) return { kind: "sent", id };
  const refusal = refusalCode(response);
  if (!refusal) return classifyStatus("Slack", response);
  if (MISSING.includes(refusal)) {
    const summary = describeResponse("Slack", response.status, refusal);
    return { kind: "missing", reason: `${summary}: the message can no longer be edited.` };
  }
  return classifyRefusal(response, refusal);
}
