import Type, { type Static } from "typebox";
import * as s from "./blocks.ts";

export const LogLevel = Type.String({
  minLength: 1,
  maxLength: 32,
  description: "How important the line is, such as `info`, `warning` or `error`.",
});

/** A line of a step's log. */
export const LogLine = Type.Object(
  {
    seq: Type.Integer({ minimum: 1, description: "The number of the line in the log, from 1." }),
    at: s.Timestamp("When the line was written; when it arrived, if the sender did not say."),
    level: s.nullable(LogLevel),
    text: Type.String({ description: "The line, without its line end. Escape sequences set its colours (SGR)." }),
  },
  s.named("LogLine"),
);
export type LogLine = Static<typeof LogLine>;

/** Lines of a step's log. */
export const LogPage = Type.Object(
  {
    lines: Type.Array(LogLine, { description: "The lines, oldest first." }),
    next: s.Count("The number of the newest line; 0 for an empty log."),
    dropped: Type.Object(
      {
        lines: s.Count("The number of lines that are not kept."),
        bytes: s.Count("Their size, and what was cut from long lines."),
      },
      { ...s.named("DroppedLines"), description: "Received lines that are not kept." },
    ),
  },
  s.named("LogPage"),
);
export type LogPage = Static<typeof LogPage>;
