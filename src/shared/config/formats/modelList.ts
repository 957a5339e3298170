import type { ModelList } from "../schema/agents.ts";

/** One model of an allow-list. */
export interface ModelEntry {
  readonly id: string;
  readonly alias?: string | undefined;
}

/** An allow-list in one of its forms as its entries, in its order. */
export function modelEntries(models: ModelList): ModelEntry[] {
  if (isList(models)) return models.map((entry) => (typeof entry === "string" ? { id: entry } : entry));
  return Object.entries(models).map(([id, { alias }]) => ({ id, alias }));
}

const isList = (models: ModelList): models is Extract<ModelList, readonly unknown[]> => Array.isArray(models);

export type ResolvedModel =
  | { readonly ok: true; readonly model: string | undefined }
  | { readonly ok: false; readonly allowed: string[] };

/**
 * The id of the model that is asked for by id or alias; of the default one when none is. With an allow-list nothing else
 * will do: `allowed` then has its ids and aliases.
 */
export function resolveModel(
  { model, models }: { readonly model?: string | undefined; readonly models?: ModelList | undefined },
  requested: string | undefined,
): ResolvedModel {
  const wanted = requested ?? model;
  if (wanted === undefined || models === undefined) return { ok: true, model: wanted };
  const entries = modelEntries(models);
  const found = entries.find(({ id }) => id === wanted) ?? entries.find(({ alias }) => alias === wanted);
  if (found) return { ok: true, model: found.id };
  return { ok: false, allowed: entries.flatMap(({ id, alias }) => (alias === undefined ? [id] : [id, alias])) };
}
