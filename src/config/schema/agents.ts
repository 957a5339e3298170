import Type from "typebox";
import { boolean, integer, interval, optionalSection, section, text, textMap } from "../nodes.ts";

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
            every: interval({
              default: "30m",
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
        trackAsJob: boolean({
          default: false,
          description: "Whether each run is also a job with the same id under `/api/jobs`.",
        }),
      },
      "Defaults of every turn. A request or a mapping can override most of them.",
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
            maxOutputBytes: integer({
              default: 4 * 1024 * 1024,
              minimum: 1024,
              maximum: 64 * 1024 * 1024,
              description:
                "Maximum output of the program in bytes. A program that prints more is stopped, and its run fails.",
            }),
          },
          "The program of the runner `command`, which is started for each turn.",
        ),
      },
      "Settings of the runners.",
    ),
  },
  "The agent and the runner of its turns.",
);
