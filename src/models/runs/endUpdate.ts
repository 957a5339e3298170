import type { mongo } from "mongoose";
import { MAIN_SESSION } from "../../shared/sessionKey.ts";
import { nameWords } from "../db/nameSearch.ts";
import { newNoteId } from "../notes/note.ts";
import type { WantedNotifications } from "../notes/wantedNotifications.ts";
import type { MappingOutcome, RunDoc, RunOutcome } from "./run.ts";

/** Returns the update of a run that ends, with its note. */
export function endUpdate(
  { kind: status, ...outcome }: RunOutcome,
  now: Date,
  wanted: WantedNotifications,
): mongo.UpdateFilter<RunDoc> {
  const error = status === "completed" ? { error: null } : {};
  const over = { open: false, lease: null, notBefore: null, finalized: false, endedAt: now };
  const { reply: _, ...was } = { reply: null, ...outcome, ...error, endedAt: now };
  return { $set: { status, ...outcome, ...error, ...over }, ...noteEnd(status, was, now, wanted) };
}

/** Returns the update of a run whose mapping has an outcome, with the note if that ends the run. */
export function mappingUpdate(
  mapped: MappingOutcome,
  now: Date,
  wanted: WantedNotifications,
): mongo.UpdateFilter<RunDoc> {
  const stage = "turn" as const;
  const over = { open: false, endedAt: now };
  const untraced = { ...wanted, traces: false }; // no agent has run
  const used = { "mapped.call": null, "mapped.item": null };
  const note = (status: EndStatus, was: object = {}) => noteEnd(status, { ...was, endedAt: now }, now, untraced);
  switch (mapped.kind) {
    case "agent":
      return { $set: { stage, ...mapped, ...named(mapped.name), ...used } };
    case "event": {
      const { kind: _, name, ...noted } = mapped;
      const event = { kind: "wake" as const, ...named(name), ...noted, status: "completed" as const, finalized: true };
      const session = { sessionKey: MAIN_SESSION, singleUse: false };
      return { $set: { stage, ...over, ...used, ...event, ...session }, ...note("completed") };
    }
    case "job": {
      const report = { ...mapped, status: "completed" as const, finalized: true, singleUse: false };
      return { $set: { stage, ...over, ...used, ...report }, ...note("completed") };
    }
    case "dropped":
      return { $set: { stage, ...over, ...used, status: "dropped", finalized: true }, ...note("dropped") };
    case "failed": {
      const { error } = mapped;
      return {
        $set: { ...over, stage: "mapping", status: "failed", error, finalized: false },
        ...note("failed", { error }),
      };
    }
  }
}

const named = (name: string | null) => ({ name, nameWords: nameWords(name ?? "") });

type EndStatus = "completed" | "failed" | "dropped";

/**
 * Returns the operator that notes the end of a run; empty if nobody wants the notification.
 * @param was the fields that a retry of the run changes. The reply stays.
 */
function noteEnd(status: EndStatus, was: object, at: Date, { types, callbacks, traces }: WantedNotifications) {
  const type = `run.${status}` as const;
  if (!types.has(type) && !callbacks && !traces) return {};
  return { $push: { notes: { id: newNoteId(), type, at, was: { status, ...was } } } };
}
