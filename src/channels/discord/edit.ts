import type { EditOutcome, Pace } from "../channel.ts";
import { type ApiResponse, describeResponse } from "../httpStatus.ts";
import { classifyResponse } from "./errors.ts";

/** Codes of messages that were deleted, or that somebody else has written. */
const MISSING = [10_008, 50_005, 50_021];

/** Discord permits five requests in five seconds to one channel, and 50 a second in all. */
const PACE: Pace = { editMs: 3_000, firstMs: 1_000, channelMs: 50 };
export const paceOf = (): Pace => PACE;

/** Returns how an edit (`PATCH /channels/ID/messages/ID`) ended. */
export function editOutcome(response: ApiResponse): EditOutcome {
  const { status, json } = response;
  if (status >= 400 && MISSING.includes(json?.code)) {
    const summary = describeResponse("Discord", status, json.code);
    return { kind: "missing", reason: `${summary}: the message can no longer be edited.` };
  }
  return classifyResponse(response);
}
