import { modelEntries } from "../../config/formats/modelList.ts";
import type { ModelList } from "../../config/schema/agents.ts";

/**
 * Returns a function from the model of a turn to its label in metrics: the id of a configured model, `other` for one that only a
 * request named, and an empty label without a model. Requests thus cannot create labels.
 */
export function modelLabels(
  models: ModelList | undefined,
  defaultModel: string | undefined,
): (model: string | undefined) => string {
  const configured = new Set([...modelEntries(models ?? []).map(({ id }) => id), defaultModel]);
  return (model) => (model === undefined || configured.has(model) ? (model ?? "") : "other");
}
