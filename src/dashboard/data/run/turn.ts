import type { RunEvent } from "../../../client/client.ts";

/** A part of what an agent does: a text, or a tool, whose `error` is null while it works. */
export type TurnPart =
  | { readonly kind: "text"; readonly text: string }
  | {
      readonly kind: "tool";
      readonly tool: string;
      readonly preview: string | null;
      readonly ms: number | null;
      readonly error: boolean | null;
    };

/** Maximum parts that the page keeps, and characters of each text: the newest ones. */
const MAX_PARTS = 200;
const MAX_CHARS = 100_000;

/** Returns the parts after an event. */
export function applyRunEvent(parts: readonly TurnPart[], { type, data }: RunEvent): readonly TurnPart[] {
  const last = parts.at(-1);
  switch (type) {
    case "run.started":
      return [];
    case "message.delta":
      if (last?.kind !== "text") return [...parts, { kind: "text" as const, text: data.delta }].slice(-MAX_PARTS);
      return [...parts.slice(0, -1), { kind: "text", text: (last.text + data.delta).slice(-MAX_CHARS) }];
    case "tool.started":
      return [...parts, { kind: "tool" as const, ...data, ms: null, error: null }].slice(-MAX_PARTS);
    case "tool.completed": {
      const at = parts.findLastIndex((part) => part.kind === "tool" && part.tool === data.tool && part.error === null);
      return parts.map((part, i) =>
        i === at && part.kind === "tool" ? { ...part, ms: data.ms, error: data.error } : part,
      );
    }
    default:
      return parts;
  }
}
