import { modelEntries } from "../../config/agents.ts";
import type { Config } from "../../config/config.ts";

/**
 * Returns the label of the model of a turn in metrics: the id of a configured model, `other` for one that only a request named,
 * and an empty label without a model. Requests thus cannot create labels.
 */
export function modelLabel(
  { models = [], model: defaultModel }: Pick<Config["agents"]["defaults"], "model" | "models">,
  model: string | undefined,
): string {
  if (model === undefined) return "";
  return model === defaultModel || modelEntries(models).some(({ id }) => id === model) ? model : "other";
}
