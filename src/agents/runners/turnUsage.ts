import { isObject } from "../../shared/text/json.ts";

/** The usage that a model server or a program reported for one turn. Members that it did not report are missing. */
export interface TurnUsage {
  /** All tokens of the prompts, cached ones included. */
  readonly inputTokens?: number;
  /** The part of the input that was read from a cache. */
  readonly cachedInputTokens?: number;
  /** All generated tokens, those of reasoning included. */
  readonly outputTokens?: number;
  readonly reasoningTokens?: number;
  /** US dollars, only as the program reports them. */
  readonly costUsd?: number;
}

/** Maximum cost of one turn in US dollars. A higher one is an error of the program. */
const MAX_COST_USD = 1_000_000;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the `usage` of an answer of the chat completions API.
 * @returns undefined if it contains no number of tokens
 */
export function chatUsage(usage: unknown): TurnUsage | undefined {
  const { prompt_tokens, completion_tokens, prompt_tokens_details, completion_tokens_details } = fieldsOf(usage);
  return reported({
    inputTokens: tokens(prompt_tokens),
    cachedInputTokens: tokens(fieldsOf(prompt_tokens_details).cached_tokens),
    outputTokens: tokens(completion_tokens),
    reasoningTokens: tokens(fieldsOf(completion_tokens_details).reasoning_tokens),
  });
}

/**
 * Reads the usage in the JSON object that a program printed: `usage` and `total_cost_usd` as Claude Code prints them, `usage`
 * as Codex does, or `stats.models` as Gemini CLI does.
 * @returns undefined if the object has neither
 */
export function programUsage({ usage, stats, total_cost_usd }: Fields): TurnUsage | undefined {
  const fields = fieldsOf(usage);
  if (fields.cached_input_tokens !== undefined) return codexUsage(fields);
  const cached = tokens(fields.cache_read_input_tokens);
  const rest = tokens(fields.input_tokens); // Claude Code leaves cached tokens out of it.
  const claude = {
    inputTokens: rest === undefined ? undefined : sum(rest, cached, tokens(fields.cache_creation_input_tokens)),
    cachedInputTokens: cached,
    outputTokens: tokens(fields.output_tokens),
    costUsd: dollars(total_cost_usd),
  };
  return reported(claude) ?? geminiUsage(fieldsOf(fieldsOf(stats).models));
}

/** Codex counts cached tokens as part of the input, unlike Claude Code. */
const codexUsage = (fields: Fields): TurnUsage | undefined =>
  reported({
    inputTokens: tokens(fields.input_tokens),
    cachedInputTokens: tokens(fields.cached_input_tokens),
    outputTokens: tokens(fields.output_tokens),
    reasoningTokens: tokens(fields.reasoning_output_tokens),
  });

function geminiUsage(models: Fields): TurnUsage | undefined {
  const used = Object.values(models).map((model) => fieldsOf(fieldsOf(model).tokens));
  const total = (name: string) => sum(...used.map((fields) => tokens(fields[name])));
  return reported({
    inputTokens: total("prompt"),
    cachedInputTokens: total("cached"),
    outputTokens: sum(total("candidates"), total("thoughts")),
    reasoningTokens: total("thoughts"),
  });
}

/** Returns a usage and another one, `times` times. */
export function addUp(usage: TurnUsage = {}, more: TurnUsage = {}, times = 1): TurnUsage {
  const names = Object.keys({ ...usage, ...more }) as (keyof TurnUsage)[];
  return Object.fromEntries(names.map((name) => [name, (usage[name] ?? 0) + times * (more[name] ?? 0)]));
}

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

const tokens = (value: unknown): number | undefined =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined;

const dollars = (value: unknown): number | undefined =>
  typeof value === "number" && value >= 0 && value <= MAX_COST_USD ? value : undefined;

/** Returns the sum of the numbers; undefined if there is none. */
function sum(...values: (number | undefined)[]): number | undefined {
  const numbers = values.filter((value) => value !== undefined);
  return numbers.length > 0 ? numbers.reduce((total, value) => total + value, 0) : undefined;
}

/** Returns the members that have a value; undefined if none has. */
function reported(usage: { readonly [member in keyof TurnUsage]: number | undefined }): TurnUsage | undefined {
  const known = Object.entries(usage).filter(([, value]) => value !== undefined);
  return known.length > 0 ? Object.fromEntries(known) : undefined;
}
