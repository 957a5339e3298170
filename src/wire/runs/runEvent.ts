import Type, { type Static } from "typebox";
import * as s from "../blocks.ts";
import { RunHead } from "./run.ts";
import { Usage } from "./usage.ts";

const tool = Type.String({
  description: "The name of the tool; for Codex the type of the item and, for a tool of MCP, `server.tool`.",
});

/** The events of a run, by name. */
export const RUN_EVENTS = {
  "run.started": {
    about: "An attempt begins. Text and tools of an earlier one no longer count.",
    data: Type.Object(
      { attempt: Type.Integer({ minimum: 1, description: "The number of the attempt." }) },
      s.named("RunStarted"),
    ),
  },
  "message.delta": {
    about: "The agent has written more text.",
    data: Type.Object({ delta: Type.String({ description: "The next piece of the text." }) }, s.named("MessageDelta")),
  },
  "tool.started": {
    about: "The agent uses a tool.",
    data: Type.Object(
      {
        tool,
        preview: s.nullable(Type.String(), {
          description: "The beginning of the input, at most 200 characters, with `agents.showTools: previews`.",
        }),
      },
      s.named("ToolStarted"),
    ),
  },
  "tool.completed": {
    about: "A tool has ended.",
    data: Type.Object(
      {
        tool,
        ms: s.nullable(Type.Integer({ minimum: 0 }), {
          description: "Duration in milliseconds; null if the program did not report the start.",
        }),
        error: Type.Boolean({ description: "Whether the tool failed." }),
      },
      s.named("ToolCompleted"),
    ),
  },
  usage: { about: "The usage of this attempt, as the model server or the program reported it.", data: Usage },
  log: {
    about: "Lines that the program wrote to standard error.",
    data: Type.Object(
      { text: Type.String({ description: "One or more lines, each with its line end." }) },
      s.named("RunLog"),
    ),
  },
  "run.completed": {
    about: "The run has completed, or was dropped. The stream ends. `GET /api/runs/{runId}` returns the reply.",
    data: RunHead,
  },
  "run.failed": { about: "The run has failed. The stream ends.", data: RunHead },
} as const;

/** The data of each event of a run. */
export type RunEvents = { [Event in keyof typeof RUN_EVENTS]: Static<(typeof RUN_EVENTS)[Event]["data"]> };
