import Type from "typebox";
import * as s from "../../wire/blocks.ts";

/** Usage of runs. Null if nothing reported it. */
export const Usage = (description: string) =>
  s.nullable(
    Type.Object(
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
    ),
    { description },
  );

const tokens = (what: string) =>
  s.nullable(Type.Integer({ minimum: 0 }), { description: `${what} Null if it was not reported.` });
