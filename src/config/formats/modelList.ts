import type { ModelList } from "../schema/agents.ts";

/** One model of an allow-list. */
export interface ModelEntry {
  readonly id: string;
  readonly alias?: string | undefined;
}

/** Returns the entries of an allow-list of either form, in their order. */
export function modelEntries(models: ModelList): ModelEntry[] {
  if (isList(models)) return models.map((entry) => (typeof entry === "string" ? { id: entry } : entry));
  return Object.entries(models).map(([id, { alias }]) => ({ id, alias }));
}

const isList = (models: ModelList): models is Extract<ModelList, readonly unknown[]> => Array.isArray(models);

export type ResolvedModel =
  | { readonly ok: true; readonly model: string | undefined }
  | { readonly ok: false; readonly allowed: string[] };

/**
 * Returns the id of the requested model, which is given by id or alias, or of the default model. A model that an allow-list
 * does not contain is refused; `allowed` has the ids and aliases of the list.
 */
export function resolveModel(
  { model, models }: { readonly model?: string | undefined; readonly models?: ModelList | undefined },
  requested: string | undefined,
): ResolvedModel {
  const name = requested ?? model;
  if (name === undefined || models === undefined) return { ok: true, model: name };
  const entries = modelEntries(models);
  const found = entries.find(({ id }) => id === name) ?? entries.find(({ alias }) => alias === name);
  if (found) return { ok: true, model: found.id };
  return { ok: false, allowed: entries.flatMap(({ id, alias }) => (alias === undefined ? [id] : [id, alias])) };
}
