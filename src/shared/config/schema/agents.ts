import Type from "typebox";
import { boolean, duration, integer, optionalSection, section, text, textMap } from "../nodes.ts";

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
    "The models that may be asked for: ids (bare or `provider/model`) or `{ id, alias }`, or an object keyed by id. Without it any may.",
});

/** The section `agents`. */
export const AgentsSchema = section(
  {
    defaults: section(
      {
        runner: Type.Enum(["echo", "openai", "command"], {
          default: "echo",
          description:
            "What carries out a turn. `echo` only repeats what it is told; `openai` asks any OpenAI-compatible server; `command` starts a program.",
        }),
        model: Type.Optional(
          text({
            examples: ["gpt-5-mini"],
            description: "The model, by id or alias, where a request names none. Needed by the runner `openai`.",
          }),
        ),
        models: Type.Optional(models),
        thinking: Type.Optional(
          text({
            examples: ["low"],
            description: "How hard the model thinks, in the words of the model's server or program.",
          }),
        ),
        systemPrompt: Type.Optional(
          text({
            examples: ["You are the assistant of the operations team. Answer briefly."],
            description: "The operator's own words that begin every conversation, as the system message.",
          }),
        ),
        timeoutSeconds: Type.Number({
          default: 600,
          exclusiveMinimum: 0,
          maximum: 86_400,
          description: "How long a turn may take before it is aborted, where a request says nothing.",
        }),
        heartbeat: section(
          {
            every: duration({ default: "30m", description: "How often the main session looks at what has come in." }),
            prompt: Type.Optional(
              text({
                examples: ["Look at what has come in. If nothing needs me, answer HEARTBEAT_OK."],
                description: "What the agent is told at each heartbeat, in place of the built-in words.",
              }),
            ),
          },
          "The main session's own turns.",
        ),
        trackAsJob: boolean({
          default: false,
          description: "Makes each run a job of the same id under `/api/jobs` too.",
        }),
      },
      "What holds for a turn where nobody says otherwise.",
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
                description: "Where the server is, with its path. Without it OpenAI's own.",
              }),
            ),
            apiKey: Type.Optional(
              text({ secret: true, examples: ["sk-…"], description: "The key; local servers need none." }),
            ),
            headers: Type.Optional(
              textMap({
                secret: true,
                examples: [{ "X-Team": "agents" }],
                description: "Headers sent with each request.",
              }),
            ),
          },
          "An OpenAI-compatible server.",
        ),
        command: optionalSection(
          {
            command: Type.Array(Type.String({ minLength: 1 }), {
              minItems: 1,
              examples: [["claude", "--print", "--model", "{model}"]],
              description:
                "The program and its arguments, needed by the runner `command`; started without a shell. `{model}` and `{thinking}` are filled in. The prompt is its standard input, the reply its standard output.",
            }),
            env: Type.Optional(
              textMap({
                secret: true,
                examples: [{ HOME: "/srv/agent" }],
                description: "Set in the program's environment.",
              }),
            ),
            passEnv: Type.Optional(
              Type.Array(Type.String({ pattern: "^[A-Za-z_][A-Za-z0-9_]*$", examples: ["ANTHROPIC_API_KEY"] }), {
                examples: [["ANTHROPIC_API_KEY"]],
                description: "Variables of the service's own environment that the program is given too.",
              }),
            ),
            cwd: Type.Optional(text({ examples: ["/srv/agent"], description: "The directory it is started in." })),
            output: Type.Enum(["text", "json"], {
              default: "text",
              description: "Whether its output is the reply or a JSON object that holds it.",
            }),
            replyField: text({ default: "result", description: "The field of the JSON object that holds the reply." }),
            maxOutputBytes: integer({
              default: 4 * 1024 * 1024,
              minimum: 1024,
              maximum: 64 * 1024 * 1024,
              description: "A program that prints more is ended.",
            }),
          },
          "A program that is started for each turn.",
        ),
      },
      "The settings of the runners.",
    ),
  },
  "The agent and what carries out its turns.",
);
