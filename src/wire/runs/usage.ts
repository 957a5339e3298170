import Type, { type Static } from "typebox";
import * as s from "../blocks.ts";

const tokens = (what: string) =>
  s.nullable(Type.Integer({ minimum: 0 }), { description: `${what} Null if it was not reported.` });

/** Usage of runs. A member is null if nothing reported it. */
export const Usage = Type.Object(
  {
    inputTokens: tokens("All tokens of the prompts, cached ones included."),
    cachedInputTokens: tokens("The part of `inputTokens` that was read from a cache."),
    outputTokens: tokens("All generated tokens, those of reasoning included."),
    reasoningTokens: tokens("The part of `outputTokens` that was used for reasoning."),
    costUsd: s.nullable(Type.Number({ minimum: 0 }), {
      description: "Cost in US dollars as the program reported it; null if none did. It is never estimated.",
    }),
  },
  s.named("Usage"),
);
export type Usage = Static<typeof Usage>;

/** Returns the schema of usage that is null if nothing reported it. */
export const UsageOrNull = (description: string) => s.nullable(Usage, { description });
