import type { mongo } from "mongoose";
import type { JobChange } from "../../../wire/job.ts";

/** The fields of a job that hold free objects. */
export const PAYLOAD_FIELDS = ["input", "metadata", "output"] as const;
export type PayloadField = (typeof PAYLOAD_FIELDS)[number];

/** Returns whether a change may replace stored payloads. */
export const changesPayloads = (change: Omit<JobChange, "returnTo">): boolean =>
  PAYLOAD_FIELDS.some((field) => change[field] !== undefined);

/** Returns the expression for the stored payloads that a change replaces. */
export function replacedBy(change: Omit<JobChange, "returnTo">): mongo.Document {
  const fields = PAYLOAD_FIELDS.filter((field) => change[field] !== undefined);
  return { $setDifference: [fields.map((field) => `$${field}.payload`), [null]] };
}

/** The expression for every stored payload that a job refers to. */
export const PAYLOAD_IDS = {
  $setDifference: [
    {
      $concatArrays: [
        ["$input.payload", "$metadata.payload", "$output.payload"],
        { $ifNull: ["$replaced", []] },
        {
          $map: { input: { $objectToArray: { $ifNull: ["$steps", {}] } }, in: "$$this.v.output.payload" },
        },
      ],
    },
    [null],
  ],
};
