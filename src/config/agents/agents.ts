import Type, { type Static } from "typebox";
import { DURATION_PATTERN, INTERVAL_PATTERN } from "../../shared/text/duration.ts";
import { type Check, type Frozen, optionalSection, section, text, textMap } from "../nodes.ts";
import { type AgentEntry, AgentSchema, type ModelList, modelEntries, program, resolveModel, turn } from "./agent.ts";
import { BudgetSchema } from "./budget.ts";

/** The section `agents`. */
export const AgentsSchema = section(
  {
    defaults: section(
      {
        ...turn,
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
      },
      "Defaults of every turn. A request or a mapping can override most of them.",
    ),
    list: Type.Unsafe<Record<string, AgentEntry>>({
      type: "object",
      additionalProperties: AgentSchema,
      maxProperties: 100,
      default: {},
      examples: [{ reviewer: { model: "gpt-5", systemPrompt: "You review changes." } }],
      description:
        "Agents by id, which requests, mappings and inboxes choose by `agentId`. An entry takes what it does not set from `agents.defaults`, and its program from `agents.runners.command`.",
    }),
    budgets: Type.Array(BudgetSchema, {
      maxItems: 100,
      default: [],
      // biome-ignore lint/suspicious/noThenProperty: a text, which nothing calls
      examples: [[{ id: "daily", per: "day", usd: 5, then: "ask" }]],
      description: "Limits of what runs spend, checked before each turn and when an attempt ends.",
    }),
    timezone: text({
      default: "UTC",
      examples: ["Europe/Berlin"],
      description: "The time zone in which the days and months of budgets begin.",
    }),
    showTools: Type.Enum(["names", "previews", "off"], {
      default: "names",
      description:
        "The tools of a program in the live events of a run and in its job: `names`, `previews` with the beginning of their input, which may hold secrets, or `off`.",
    }),
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
        command: optionalSection(program, "The program of the runner `command`, which is started for each turn."),
      },
      "Settings of the runners.",
    ),
  },
  "The agent and the runner of its turns.",
);

export type Agents = Frozen<Static<typeof AgentsSchema>>;
/** The settings of one agent. Those that only an entry of `agents.list` has are missing in `agents.defaults`. */
export type AgentSettings = Agents["defaults"] & Frozen<Partial<AgentEntry>>;

/**
 * Returns the settings of an agent: those of its entry in `agents.list`, then `agents.defaults`.
 * @param agentId null for the agent of `agents.defaults`
 * @returns undefined if there is no such entry
 */
export function agentSettings(
  { defaults, list }: Agents,
  agentId: string | null | undefined,
): AgentSettings | undefined {
  if (agentId === null || agentId === undefined) return defaults;
  return Object.hasOwn(list, agentId) ? ({ ...defaults, ...list[agentId] } as AgentSettings) : undefined;
}

/** Returns what is wrong with the id of an agent, worded to follow its key; null if it names one. */
export function agentFault({ list }: Agents, agentId: string | undefined): string | null {
  if (agentId === undefined || Object.hasOwn(list, agentId)) return null;
  const ids = Object.keys(list);
  return ids.length === 0
    ? `names no agent: agents.list has none, so leave it out`
    : `names no agent: it must be one of ${ids.join(", ")} (agents.list)`;
}

/** Returns the program of an agent: that of the runner `command`, with what its entry sets instead. */
export function programOf({ runners }: Agents, { command, env, cwd, output }: AgentSettings) {
  const shared = runners.command ?? (command && { command, output: "text" as const, replyField: "result" });
  return (
    shared && {
      ...shared,
      command: command ?? shared.command,
      output: output ?? shared.output,
      cwd: cwd ?? shared.cwd,
      env: { ...shared.env, ...env },
    }
  );
}

/** Returns each agent with its key in the configuration. */
const allAgents = (agents: Agents): (readonly [key: string, settings: AgentSettings])[] => [
  ["agents.defaults", agents.defaults],
  ...Object.keys(agents.list).map((id) => [`agents.list.${id}`, agentSettings(agents, id) as AgentSettings] as const),
];

const AGENT_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export const agentChecks: readonly Check<{ readonly agents: Agents }>[] = [
  {
    reads: ["agents.list"],
    find: ({ agents }) =>
      Object.keys(agents.list).map(
        (id) =>
          !AGENT_ID.test(id) &&
          `agents.list.${id} must have an id of at most 64 letters, digits, dots, dashes and underscores`,
      ),
  },
  {
    reads: ["agents.defaults.runner", "agents.defaults.model", "agents.list"],
    find: ({ agents }) =>
      allAgents(agents).map(
        ([key, { runner, model }]) =>
          runner === "openai" && !model && `${key}.runner is openai and ${key}.model is not set: set the model`,
      ),
  },
  {
    reads: ["agents.defaults.runner", "agents.runners.command", "agents.list"],
    find: ({ agents }) =>
      allAgents(agents).map(
        ([key, settings]) =>
          settings.runner === "command" &&
          !programOf(agents, settings) &&
          `${key}.runner is command and agents.runners.command.command is not set: set the program to start`,
      ),
  },
  { reads: ["agents.runners.openai.baseUrl"], find: ({ agents }) => [baseUrlFault(agents.runners.openai?.baseUrl)] },
  {
    reads: ["agents.defaults.model", "agents.defaults.models", "agents.list"],
    find: ({ agents }) =>
      allAgents(agents).map(([key, settings]) => {
        const resolved = resolveModel(settings, undefined);
        return (
          !resolved.ok &&
          `${key}.model is ${settings.model}, which ${key}.models does not list (${resolved.allowed.join(", ")})`
        );
      }),
  },
  {
    reads: ["agents.defaults.models", "agents.list"],
    find: ({ agents }) =>
      [["agents.defaults", agents.defaults] as const, ...Object.entries(agents.list)].flatMap(
        ([key, { models = [] }]) => repeatedModels(models, key === "agents.defaults" ? key : `agents.list.${key}`),
      ),
  },
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

function repeatedModels(models: ModelList, key: string): string[] {
  const names = modelEntries(models).flatMap(({ id, alias }) =>
    alias === undefined || alias === id ? [id] : [id, alias],
  );
  const twice = new Set(names.filter((name, i) => names.indexOf(name) !== i));
  return [...twice].map((name) => `${key}.models uses ${name} for two models: give each its own id or alias`);
}

/** Returns a sentence for each header of the model server that no request can carry. */
const headerFaults = (headers: Readonly<Record<string, string>>): string[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    /\p{Cc}/u.test(value.replaceAll("\t", " "))
      ? [`agents.runners.openai.headers.${name} must not contain line breaks`]
      : [],
  );
