import { useEffect, useState } from "preact/hooks";
import { applyRunEvent, type TurnPart } from "../../data/run/turn.ts";
import { service } from "../../data/service.ts";
import { shownText, visible } from "../../text.ts";
import { duration } from "../../time.ts";
import { useFollowEnd } from "../followEnd.ts";
import { Section } from "../section.tsx";

/**
 * The text and the tools of the agent of a running run. The box appears with the first event and then keeps its height, so that
 * nothing below it moves. It follows the end until the reader scrolls back. Only the newest tool is announced.
 */
export function LiveTurn({ runId }: { readonly runId: string }) {
  const parts = useTurn(runId);
  const scrolling = useFollowEnd(parts);
  if (parts.length === 0) return null;
  const tool = parts.findLast((part) => part.kind === "tool");
  return (
    <Section id="live-turn" title="At work">
      <p class="live-turn-newest muted" role="status">
        {tool ? `Newest tool: ${visible(tool.tool)}` : "Writing"}
      </p>
      <div class="live-turn well" {...scrolling} tabIndex={0} role="log" aria-live="off" aria-label="Text and tools">
        {parts.map((part, i) => (
          <Part key={i} part={part} />
        ))}
      </div>
    </Section>
  );
}

function Part({ part }: { readonly part: TurnPart }) {
  if (part.kind === "text")
    return (
      <p class="raw-text" dir="auto">
        {shownText(part.text)}
      </p>
    );
  const { tool, preview, ms, error } = part;
  return (
    <p class="live-turn-tool line">
      <bdi class={error ? "fault" : undefined}>{visible(tool)}</bdi>
      {preview && <bdi class="muted grow">{visible(preview)}</bdi>}
      <span class="muted">
        {error === null ? "…" : [error && "failed", ms !== null && duration(ms)].filter(Boolean).join(", ")}
      </span>
    </p>
  );
}

/** Follows what the agent of a run does. Stays empty if the service has no events of the run. */
function useTurn(runId: string): readonly TurnPart[] {
  const [parts, setParts] = useState<readonly TurnPart[]>([]);
  useEffect(() => {
    const gone = new AbortController();
    const follow = async () => {
      for await (const event of service.watchRun(runId, { signal: gone.signal }))
        setParts((parts) => applyRunEvent(parts, event));
    };
    follow().catch(() => {}); // the page shows what is wrong with the service elsewhere
    return () => gone.abort();
  }, [runId]);
  return parts;
}
