import type { EditOutcome, Pace } from "../channel.ts";
import { type ApiResponse, codeOf, describeResponse } from "../httpStatus.ts";
import { classifyResponse } from "./errors.ts";

/** Ids of a 400 about a post that was deleted, or that the server permits to edit no longer (`PostEditTimeLimit`). */
const MISSING = /^(api\.post\.(update|patch)_post\.|app\.post\.get\.)/;

/** Mattermost has no limit unless its operator sets one, which is ten requests a second by default. */
const PACE: Pace = { editMs: 3_000, firstMs: 1_000, channelMs: 200 };
export const paceOf = (): Pace => PACE;

/** Returns how an edit (`PUT /posts/ID/patch`) ended. */
export function editOutcome(response: ApiResponse): EditOutcome {
  const { status, json } = response;
  const id: unknown = json?.id;
  const isMissing = status === 403 || status === 404 || (status === 400 && typeof id === "string" && MISSING.test(id));
  if (isMissing && typeof id === "string") {
    const summary = describeResponse("Mattermost", status, codeOf(id));
    return { kind: "missing", reason: `${summary}: the message can no longer be edited.` };
  }
  return classifyResponse(response);
}
