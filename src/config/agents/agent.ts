import Type, { type Static, type TSchema } from "typebox";
import { text, textMap } from "../nodes.ts";

/** An allow-list: a list of ids with optional aliases, or a map from ids. */
export type ModelList =
  | readonly (string | { readonly id: string; readonly alias?: string })[]
  | Readonly<Record<string, { readonly alias?: string }>>;

const alias = { type: "string", minLength: 1 };

// Each JSON Schema keyword applies only to values of its own type, so that a fault is reported at its own place.
const models = Type.Unsafe<ModelList>({
  type: ["array", "object"],
  items: {
    type: ["string", "object"],
    minLength: 1,
    properties: { id: { type: "string", minLength: 1 }, alias },
    required: ["id"],
    additionalProperties: false,
  },
  additionalProperties: { type: "object", properties: { alias }, additionalProperties: false },
  minItems: 1,
  minProperties: 1,
  examples: [["gpt-5-mini", { id: "openai/gpt-5", alias: "large" }]],
  description:
    "Models that requests may choose: a list of ids or of `{ id, alias }`, or an object with ids as keys. Without it any model is allowed.",
});

/** The settings of a turn, which `agents.defaults` has for all agents. */
export const turn = {
  runner: Type.Enum(["echo", "openai", "command"], {
    default: "echo",
    description:
      "The runner that carries out a turn of the agent. `echo` repeats the message, for tests. `openai` calls an OpenAI-compatible server. `command` starts a program.",
  }),
  model: Type.Optional(
    text({
      examples: ["gpt-5-mini"],
      description: "Default model, by id or alias. Required by the runner `openai`.",
    }),
  ),
  models: Type.Optional(models),
  thinking: Type.Optional(
    text({
      examples: ["low"],
      description: "Default reasoning effort, in the notation of the model server or program.",
    }),
  ),
  systemPrompt: Type.Optional(
    text({
      examples: ["You are the assistant of the operations team. Answer briefly."],
      description: "System message with which every conversation starts.",
    }),
  ),
  timeoutSeconds: Type.Number({
    default: 600,
    exclusiveMinimum: 0,
    maximum: 86_400,
    description: "Default time limit of a turn in seconds. A turn that takes longer is stopped, and its run fails.",
  }),
  trackAsJob: Type.Boolean({
    default: false,
    description: "Whether each run is also a job with the same id under `/api/jobs`.",
  }),
};

/** The settings of the program of the runner `command`. */
export const program = {
  command: Type.Array(Type.String({ minLength: 1 }), {
    minItems: 1,
    examples: [["claude", "--print", "--model", "{model}"]],
    description:
      "Program and arguments of the runner `command`, which starts it without a shell. `{model}` and `{thinking}` are replaced. The program reads the prompt from standard input and prints the reply to standard output.",
  }),
  env: Type.Optional(
    textMap({
      secret: true,
      examples: [{ HOME: "/srv/agent" }],
      description: "Variables to set in the environment of the program.",
    }),
  ),
  passEnv: Type.Optional(
    Type.Array(Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]*$", examples: ["ANTHROPIC_API_KEY"] }), {
      examples: [["ANTHROPIC_API_KEY"]],
      description: "Names of variables that the program inherits from the environment of the service.",
    }),
  ),
  cwd: Type.Optional(text({ examples: ["/srv/agent"], description: "Working directory of the program." })),
  output: Type.Enum(["text", "json"], {
    default: "text",
    description: "Whether the program prints the reply as text, or as JSON that contains it.",
  }),
  replyField: text({ default: "result", description: "Field of the JSON object that contains the reply." }),
};

/** Returns the schema of a key that an agent takes from elsewhere unless its entry has it. */
const inherited = <T extends TSchema>(schema: T) => Type.Optional({ ...schema, default: undefined } as T);

/** One entry of `agents.list`. */
export const AgentSchema = Type.Object(
  {
    runner: inherited(turn.runner),
    model: turn.model,
    models: turn.models,
    thinking: turn.thinking,
    systemPrompt: turn.systemPrompt,
    timeoutSeconds: inherited(turn.timeoutSeconds),
    trackAsJob: inherited(turn.trackAsJob),
    command: inherited(program.command),
    env: program.env,
    cwd: program.cwd,
    output: inherited(program.output),
  },
  { additionalProperties: false },
);
export type AgentEntry = Static<typeof AgentSchema>;

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
