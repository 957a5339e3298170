import { useEffect, useMemo, useState } from "preact/hooks";
import { downloadText } from "../../copy.ts";
import { colourParts } from "../../data/job/logColours.ts";
import { isLogGone, type LogLine, readAllText, readLogPage } from "../../data/job/stepLog.ts";
import { useFollowEnd } from "../followEnd.ts";
import { SearchBox } from "../forms/searchBox.tsx";

/** Height of a row in pixels, as `.log-row` has it, and rows above and below the visible ones. */
const ROW_PX = 18;
const MARGIN_ROWS = 10;
const RETRY_MS = 5_000;
/** Maximum lines that the page keeps: the newest ones. */
const MAX_LINES = 100_000;

/** The log of a step: live, and of its lines only the visible ones are in the document. */
export function StepLog({ jobId, stepKey }: { readonly jobId: string; readonly stepKey: string }) {
  const { lines, dropped } = useLog(jobId, stepKey);
  const [search, setSearch] = useState("");
  const [top, setTop] = useState(0);
  const shown = useMemo(() => {
    const wanted = search.toLowerCase();
    return wanted === "" ? lines : lines.filter(({ text }) => text.toLowerCase().includes(wanted));
  }, [lines, search]);
  const { ref: box, onScroll } = useFollowEnd(shown, setTop);
  if (lines.length === 0) return null;
  const first = Math.max(0, Math.floor(top / ROW_PX) - MARGIN_ROWS);
  const count = Math.ceil((box.current?.clientHeight ?? 400) / ROW_PX) + 2 * MARGIN_ROWS;
  const download = async () => downloadText(await readAllText(jobId, stepKey), `${jobId}-${stepKey}.log`, false);
  return (
    <section class="log" aria-label="Log">
      <header class="log-head line">
        <h3>Log</h3>
        <SearchBox label="Search in the log" text={search} setText={setSearch} />
        <button type="button" onClick={() => void download()}>
          Download
        </button>
      </header>
      {dropped > 0 && <p class="muted">{dropped.toLocaleString("en")} lines are not kept.</p>}
      <div class="log-lines well" ref={box} tabIndex={0} role="log" aria-label="Lines" onScroll={onScroll}>
        <div style={{ height: `${shown.length * ROW_PX}px`, position: "relative" }}>
          {shown.slice(first, first + count).map((line, i) => (
            <Row key={line.seq} line={line} top={(first + i) * ROW_PX} />
          ))}
        </div>
      </div>
    </section>
  );
}

function Row({ line, top }: { readonly line: LogLine; readonly top: number }) {
  return (
    <div class={`log-row ${levelClass(line.level)}`} style={{ top: `${top}px` }} title={line.at}>
      <span class="log-seq" aria-hidden="true">
        {line.seq}
      </span>
      <bdi>
        {colourParts(line.text).map(({ text, colour }, i) => (
          <span key={i} class={colour}>
            {text}
          </span>
        ))}
      </bdi>
    </div>
  );
}

function levelClass(level: string | null): string {
  if (/^(err|fatal|crit|alert|emerg)/i.test(level ?? "")) return "log-error";
  if (/^warn/i.test(level ?? "")) return "log-warning";
  return /^(debug|trace|verbose)/i.test(level ?? "") ? "log-debug" : "";
}

/** Reads the last lines of a log, and then each further one as it arrives. */
function useLog(jobId: string, stepKey: string): { lines: readonly LogLine[]; dropped: number } {
  const [state, setState] = useState<{ lines: readonly LogLine[]; dropped: number }>({ lines: [], dropped: 0 });
  useEffect(() => {
    const gone = new AbortController();
    const { signal } = gone;
    const follow = async () => {
      let after: number | undefined;
      while (!signal.aborted) {
        try {
          const startedAt = performance.now();
          const page = await readLogPage(jobId, stepKey, after, signal);
          after = page.lines.at(-1)?.seq ?? after ?? 0;
          if (page.lines.length > 0) {
            setState(({ lines }) => ({
              lines: [...lines, ...page.lines].slice(-MAX_LINES),
              dropped: page.dropped.lines,
            }));
          }
          const hasMore = page.lines.length > 0 && after < page.next;
          const isQuick = !hasMore && performance.now() - startedAt < 1_000;
          if (isQuick) await new Promise((resolve) => setTimeout(resolve, 1_000)); // at most one read a second
        } catch (error) {
          if (signal.aborted || isLogGone(error)) return;
          await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        }
      }
    };
    void follow();
    return () => gone.abort();
  }, [jobId, stepKey]);
  return state;
}
