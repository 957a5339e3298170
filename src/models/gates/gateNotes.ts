import type { Gate } from "../../wire/gate.ts";
import { appendNotes, type Note } from "../notes/note.ts";
import { returnFields, wakesOn } from "../notes/returnTo.ts";
import type { WantedNotifications } from "../notes/wantedNotifications.ts";
import { type GateDoc, viewGate } from "./gate.ts";

/** Maximum characters of a form or an answer in a note. Receivers read a longer one from the API. */
const MAX_FREE_CHARS = 4_000;
/** Maximum characters of a message in a note, so that all notes of a job take far less than a MiB. */
const MAX_MESSAGE_CHARS = 4_000;

/**
 * Returns the fields that note a transition of a gate in the job's update that follows it, for the rules, and for the session
 * that the job wakes when the gate is decided; empty if nobody wants the
 * notification. The update is made exactly once for each transition, after a crash by the repair, so that the notification is
 * neither lost nor repeated.
 * @param at when the job's update is made
 */
export function gateNote(gate: GateDoc, { types }: WantedNotifications, at: Date): { readonly notes?: object } {
  const type = TYPES[gate.status];
  const mayWake = gate.status === "answered" || gate.status === "expired";
  if (type === undefined || !(types.has(type) || mayWake)) return {};
  // A gate opens once and closes once.
  const note: Note = { id: `${gate._id}-${gate.status}`, type, at, gate: { ...snapshot(gate) } };
  const added = appendNotes([{ $mergeObjects: [{ $literal: note }, mayWake ? returnFields("gate") : {}] }]);
  return { notes: types.has(type) ? added : { $cond: [wakesOn("gate"), added, "$notes"] } };
}

const TYPES = {
  open: "gate.opened",
  answered: "gate.answered",
  expired: "gate.expired",
  withdrawn: undefined,
} as const;

/** Returns the gate as clients read it, without a form or an answer that is too long for a note. */
function snapshot(gate: GateDoc): Gate {
  const { requestedSchema, content, message } = gate;
  const short = (text: string | null) => (text !== null && text.length > MAX_FREE_CHARS ? null : text);
  return viewGate({
    ...gate,
    requestedSchema: short(requestedSchema),
    content: short(content),
    message: message?.slice(0, MAX_MESSAGE_CHARS).toWellFormed() ?? null,
  });
}
