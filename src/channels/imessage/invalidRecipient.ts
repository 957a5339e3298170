import { hasTrunkZero } from "../../shared/recipients/phoneNumber.ts";
import { WITH_TRUNK_ZERO } from "../channel.ts";

const INVALID_RECIPIENT = {
  kind: "gone",
  reason:
    "This is not an iMessage recipient: use a number with its country code (+…), a mail address, or a chat's guid.",
} as const;

/** Returns the result for a recipient that `readRecipient` rejects. */
export const invalidRecipient = (to: string) => (hasTrunkZero(to) ? WITH_TRUNK_ZERO : INVALID_RECIPIENT);
