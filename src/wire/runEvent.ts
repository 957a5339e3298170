import Type, { type Static } from "typebox";
import * as s from "./blocks.ts";
import { RunHead } from "./run.ts";
import { Usage } from "./usage.ts";

const tool = Type.String({
  description: "The name of the tool; for Codex the type of the item and, for a tool of MCP, `server.tool`.",
});

/** The data of the events of a run, by the name of the event. */
export const RUN_EVENTS = {
  "run.started": Type.Object(
    { attempt: Type.Integer({ minimum: 1, description: "The number of the attempt." }) },
    { ...s.named("RunStarted"), description: "An attempt begins. Text and tools of an earlier one no longer count." },
  ),
  "message.delta": Type.Object(
    { delta: Type.String({ description: "The next piece of the text." }) },
    { ...s.named("MessageDelta"), description: "The agent has written more text." },
  ),
  "tool.started": Type.Object(
    {
      tool,
      preview: s.nullable(Type.String(), {
        description:
          'The beginning of the input, at most 200 characters. Null unless `agents.showTools` is "previews".',
      }),
    },
    { ...s.named("ToolStarted"), description: "The agent uses a tool." },
  ),
  "tool.completed": Type.Object(
    {
      tool,
      ms: s.nullable(Type.Integer({ minimum: 0 }), {
        description: "Duration in milliseconds; null if the program did not report the start.",
      }),
      error: Type.Boolean({ description: "Whether the tool failed." }),
    },
    { ...s.named("ToolCompleted"), description: "A tool has ended." },
  ),
  usage: Type.Object(Usage.properties, {
    ...s.named("RunUsage"),
    description: "What this attempt used, as the model server or the program reported it.",
  }),
  log: Type.Object(
    { text: Type.String({ description: "One or more lines, each with its line end." }) },
    { ...s.named("RunLog"), description: "Lines that the program wrote to standard error." },
  ),
  "run.completed": Type.Object(RunHead.properties, {
    ...s.named("RunCompleted"),
    description: "The run has completed, or was dropped. The stream ends. `GET /api/runs/{runId}` returns the reply.",
  }),
  "run.failed": Type.Object(RunHead.properties, {
    ...s.named("RunFailed"),
    description: "The run has failed. The stream ends.",
  }),
} as const;

/** The data of each event of a run. */
export type RunEvents = { [Event in keyof typeof RUN_EVENTS]: Static<(typeof RUN_EVENTS)[Event]> };
