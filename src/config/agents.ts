import Type, { type Static } from "typebox";
import { DURATION_PATTERN, INTERVAL_PATTERN } from "../shared/text/duration.ts";
import { type Check, type Frozen, optionalSection, section, text, textMap } from "./nodes.ts";

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

/** The section `agents`. */
export const AgentsSchema = section(
  {
    defaults: section(
      {
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
          description:
            "Default time limit of a turn in seconds. A turn that takes longer is stopped, and its run fails.",
        }),
        heartbeat: section(
          {
            every: Type.String({
              pattern: INTERVAL_PATTERN,
              default: "30m",
              examples: ["30m or off"],
              description:
                "How often the main session takes a turn if events are waiting. `off` for none: events then wait for the next wake with the mode `now`.",
            }),
            prompt: Type.Optional(
              text({
                examples: ["Look at what has come in. If nothing needs me, answer HEARTBEAT_OK."],
                description:
                  "Prompt of each heartbeat. With it a turn is also taken while no events are waiting. Without it the built-in prompt is used.",
              }),
            ),
          },
          "Regular turns of the main session.",
        ),
        trackAsJob: Type.Boolean({
          default: false,
          description: "Whether each run is also a job with the same id under `/api/jobs`.",
        }),
      },
      "Defaults of every turn. A request or a mapping can override most of them.",
    ),
    returns: section(
      {
        gather: text({
          default: "2s",
          pattern: DURATION_PATTERN,
          description:
            "How long after a job has woken its session (`returnTo`) other jobs of the session join the same run, at most 50 jobs.",
        }),
        maxDepth: Type.Integer({
          default: 20,
          minimum: 1,
          maximum: 1_000,
          description:
            "Maximum returns in a row: a run that a job has started starts a job, which wakes its session again, and so on. The next `returnTo` is refused.",
        }),
      },
      "Runs by which jobs wake the session that started them.",
    ),
    runners: section(
      {
        openai: optionalSection(
          {
            baseUrl: Type.Optional(
              text({
                pattern: "^https?://.",
                secret: "credentials",
                examples: ["http://127.0.0.1:11434/v1"],
                description: "Address of the server, with its path. Without it the server of OpenAI is used.",
              }),
            ),
            apiKey: Type.Optional(
              text({
                secret: true,
                examples: ["sk-…"],
                description: "API key of the server. Local servers usually need none.",
              }),
            ),
            headers: Type.Optional(
              textMap({
                secret: true,
                examples: [{ "X-Team": "agents" }],
                description: "Additional headers of every request to the server.",
              }),
            ),
          },
          "The OpenAI-compatible server of the runner `openai`.",
        ),
        command: optionalSection(
          {
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
          },
          "The program of the runner `command`, which is started for each turn.",
        ),
      },
      "Settings of the runners.",
    ),
  },
  "The agent and the runner of its turns.",
);

type Agents = Frozen<Static<typeof AgentsSchema>>;

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

export const agentChecks: readonly Check<{ readonly agents: Agents }>[] = [
  {
    reads: ["agents.defaults.runner", "agents.defaults.model"],
    find: ({ agents: { defaults } }) => [
      defaults.runner === "openai" &&
        !defaults.model &&
        "agents.defaults.runner is openai and agents.defaults.model is not set: set the model",
    ],
  },
  {
    reads: ["agents.defaults.runner", "agents.runners.command"],
    find: ({ agents: { defaults, runners } }) => [
      defaults.runner === "command" &&
        !runners.command &&
        "agents.defaults.runner is command and agents.runners.command.command is not set: set the program to start",
    ],
  },
  { reads: ["agents.runners.openai.baseUrl"], find: ({ agents }) => [baseUrlFault(agents.runners.openai?.baseUrl)] },
  {
    reads: ["agents.defaults.model", "agents.defaults.models"],
    find: ({ agents: { defaults } }) => {
      const resolved = resolveModel(defaults, undefined);
      return [
        !resolved.ok &&
          `agents.defaults.model is ${defaults.model}, which agents.defaults.models does not list (${resolved.allowed.join(", ")})`,
      ];
    },
  },
  { reads: ["agents.defaults.models"], find: ({ agents }) => repeatedModels(agents.defaults.models ?? []) },
  {
    reads: ["agents.runners"],
    find: ({ agents: { runners } }) => [
      runners.command?.output === "text" &&
        runners.command.replyField !== "result" &&
        "agents.runners.command.replyField has no effect with output text: remove it, or set output to json",
    ],
  },
  { reads: ["agents.runners"], find: ({ agents }) => headerFaults(agents.runners.openai?.headers ?? {}) },
];

function baseUrlFault(baseUrl: string | undefined): string | false {
  const url = URL.parse(baseUrl ?? "");
  return (
    baseUrl !== undefined &&
    (!url || url.username + url.password !== "" || /[?#]/.test(baseUrl)) &&
    "agents.runners.openai.baseUrl must be an address without user, password, query and fragment: paths of the API are added to it; keys go in agents.runners.openai.apiKey or headers"
  );
}

function repeatedModels(models: ModelList): string[] {
  const names = modelEntries(models).flatMap(({ id, alias }) =>
    alias === undefined || alias === id ? [id] : [id, alias],
  );
  const twice = new Set(names.filter((name, i) => names.indexOf(name) !== i));
  return [...twice].map((name) => `agents.defaults.models uses ${name} for two models: give each its own id or alias`);
}

/** Returns a sentence for each header of the model server that no request can carry. */
const headerFaults = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    /\p{Cc}/u.test(value.replaceAll("\t", " "))
      ? [`agents.runners.openai.headers.${name} must not contain line breaks`]
      : [],
  );
