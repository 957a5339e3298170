import { isDeepStrictEqual } from "node:util";
import { invalidField } from "../../shared/errors.ts";
import type { FormSchema } from "../../shared/form/formSchema.ts";
import { unpackObject } from "../jobs/freeObject.ts";
import type { GateDoc } from "./gate.ts";
import { onlyPersonDecides } from "./gateErrors.ts";

const FIELDS = ["title", "message", "requestedSchema", "expiresAt", "onExpiry"] as const;

type Asked = Pick<GateDoc, (typeof FIELDS)[number]>;

/** The question of a gate. A missing field stays as it is when an open gate is changed. */
export type Question = Pick<Asked, "title"> & Partial<Asked>;

/** The caller who opens a gate, or changes its question. */
export interface Asker {
  /** The name in the audit log. */
  readonly actor: string;
  /** Whether the caller has the scope `gates:answer`. */
  readonly mayAnswer: boolean;
}

/** The question of a new gate without optional fields. */
export const NO_QUESTION = { message: null, requestedSchema: null, expiresAt: null, onExpiry: "decline" } as const;

/** Returns the fields of a question that differ from those of an open gate. */
export const changesOf = (question: Question, gate: GateDoc): Partial<Asked> =>
  Object.fromEntries(
    FIELDS.filter((field) => question[field] !== undefined && !isDeepStrictEqual(question[field], gate[field])).map(
      (field) => [field, question[field]],
    ),
  );

/**
 * Checks that a new gate does not answer itself for a caller without the scope for answers.
 * @throws AppError forbidden
 */
export function checkOpening({ onExpiry }: Asked, { mayAnswer }: Asker): void {
  if (onExpiry === "accept" && !mayAnswer) throw onlyPersonDecides("`onExpiry: accept`");
}

/**
 * Checks that a change does not decide an open gate for a caller without the scope for answers: an expiry is an answer too.
 * A gate that accepts by expiry allows only a later expiry, because nobody may have read another question.
 * @throws AppError forbidden
 */
export function checkChange(gate: GateDoc, changes: Partial<Asked>, { actor, mayAnswer }: Asker): void {
  if (mayAnswer) return;
  const { onExpiry, expiresAt, ...rest } = changes;
  const isOther = gate.openedBy !== actor;
  if (onExpiry === "accept") throw onlyPersonDecides("`onExpiry: accept`");
  if (onExpiry && isOther) throw onlyPersonDecides("Changing `onExpiry` of a gate that another caller opened");
  const isEarlier = expiresAt && (gate.expiresAt === null || expiresAt < gate.expiresAt);
  if (isEarlier && isOther) throw onlyPersonDecides("An earlier `expiresAt` for a gate that another caller opened");
  if (gate.onExpiry === "accept" && (isEarlier || onExpiry || Object.keys(rest).length > 0))
    throw onlyPersonDecides("Changing a gate that accepts by expiry");
}

/**
 * Checks that a form can be filled from its defaults if silence accepts it.
 * @throws AppError invalid_body
 */
export function checkExpiry({ requestedSchema, onExpiry }: Pick<Asked, "requestedSchema" | "onExpiry">): void {
  if (onExpiry !== "accept") return;
  const { properties = {}, required = [] } = formOf(requestedSchema) ?? {};
  const missing = required.find((name) => properties[name]?.default === undefined);
  if (missing === undefined) return;
  throw invalidField(
    "onExpiry",
    `must not be accept, because the required field ${JSON.stringify(missing)} of the form has no default`,
  );
}

/** Returns the defaults of a form, as JSON text: the content of an answer by expiry; null without a form. */
export function defaultContent(requestedSchema: string | null): string | null {
  const form = formOf(requestedSchema);
  if (!form) return null;
  const given = Object.entries(form.properties).filter(([, field]) => field.default !== undefined);
  return JSON.stringify(Object.fromEntries(given.map(([name, field]) => [name, field.default])));
}

/** Returns the form of a stored `requestedSchema`; null if the answer is only an action. */
export const formOf = (requestedSchema: string | null): FormSchema | null =>
  unpackObject(requestedSchema) as unknown as FormSchema | null;
