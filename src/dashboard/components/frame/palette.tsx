import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { access, checkAccess, hasScope } from "../../data/access.ts";
import { pageGroups } from "../../data/pages.ts";
import { service } from "../../data/service.ts";
import { address, navigate } from "../../router.ts";
import { isPaletteOpen, showHelp } from "../../shortcuts.tsx";
import { visible } from "../../text.ts";
import { nextTheme } from "../../theme.ts";

/** One line of the palette. */
interface Choice {
  readonly key: string;
  readonly title: string;
  /** The kind of the choice, or the id of a job. */
  readonly note: string;
  act(): void;
}

/** Maximum jobs that are shown. */
const MAX_JOBS = 8;
/** The search for jobs starts once the text has stayed the same for this long. */
const SEARCH_AFTER_MS = 150;
const RUN_ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** A dialog that opens pages, jobs and runs by a few letters of their name or id. */
export function Palette() {
  return isPaletteOpen.value ? <OpenPalette /> : null;
}

function OpenPalette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  // The key of the selected choice, which stays selected when jobs are found; null for the first choice.
  const [selectedKey, setSelectedKey] = useState<string | null>(null);
  const choices = useChoices(text.trim());
  const selected = Math.max(
    0,
    choices.findIndex(({ key }) => key === selectedKey),
  );
  useLayoutEffect(() => dialog.current?.showModal(), []); // Before the next key is pressed.
  useEffect(() => document.getElementById(`choice-${selected}`)?.scrollIntoView({ block: "nearest" }), [selected]);
  const choose = (choice: Choice | undefined) => {
    if (!choice) return;
    isPaletteOpen.value = false;
    choice.act();
  };
  const move = (by: number) => setSelectedKey(choices.at((selected + by) % choices.length)?.key ?? null);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") move(1);
    else if (event.key === "ArrowUp") move(-1);
    else if (event.key === "Enter") choose(choices[selected]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Go to"
      onClose={() => {
        isPaletteOpen.value = false;
      }}
      closedby="any"
    >
      <input
        type="text"
        role="combobox"
        aria-label="Page, job or run"
        aria-expanded="true"
        aria-controls="choices"
        aria-activedescendant={choices.length > 0 ? `choice-${selected}` : undefined}
        placeholder="Page, job or run"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setSelectedKey(null);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="choices" class="choices" role="listbox" aria-label="Choices">
        {choices.map((choice, i) => (
          // The keyboard acts on the input, which names the selected option.
          // biome-ignore lint/a11y/useKeyWithClickEvents: see above
          <div
            key={choice.key}
            id={`choice-${i}`}
            role="option"
            class="line"
            tabIndex={-1}
            aria-selected={i === selected}
            onMouseMove={() => setSelectedKey(choice.key)}
            onClick={() => choose(choice)}
          >
            <span dir="auto">{choice.title}</span>
            <bdi class="muted">{choice.note}</bdi>
          </div>
        ))}
      </div>
    </dialog>
  );
}

/** Returns the choices for a text: pages and commands at once, jobs when they are found. */
function useChoices(text: string): Choice[] {
  const currentAccess = access.value;
  const jobs = useJobs(hasScope(currentAccess, "jobs:read") ? text : "");
  const to = (href: string) => () => navigate(href);
  const pages = [...pageGroups(currentAccess).values()]
    .flat()
    .map(({ path, title }): Choice => ({ key: path, title, note: "page", act: to(address(path)) }));
  const commands: Choice[] = [
    { key: "theme", title: "Change the theme", note: "command", act: nextTheme },
    { key: "help", title: "Show the keyboard shortcuts", note: "command", act: showHelp },
  ];
  const fits = ({ title }: Choice) => title.toLowerCase().includes(text.toLowerCase());
  const search: Choice = {
    key: "search",
    title: `Search jobs for “${text}”`,
    note: "search",
    act: to(`${address("/")}?${new URLSearchParams({ search: text })}`),
  };
  const run: Choice = { key: "run", title: text, note: "run", act: to(address("/runs/:runId", text)) };
  return [
    ...[...pages, ...commands].filter(fits),
    ...jobs.map(({ jobId, name }) => ({
      key: `job ${jobId}`,
      title: visible(name || jobId),
      note: visible(jobId),
      act: to(address("/jobs/:jobId", jobId)),
    })),
    ...(RUN_ID.test(text) && hasScope(currentAccess, "runs:read") ? [run] : []),
    ...(text !== "" && hasScope(currentAccess, "jobs:read") ? [search] : []),
  ];
}

interface FoundJob {
  readonly jobId: string;
  readonly name: string | null;
}

/** Returns the newest jobs that a search finds. */
function useJobs(text: string): readonly FoundJob[] {
  const [found, setFound] = useState<{ text: string; jobs: readonly FoundJob[] }>({ text: "", jobs: [] });
  useEffect(() => {
    if (text === "") return;
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      const options = { signal: controller.signal };
      const page = { limit: MAX_JOBS, fields: ["jobId", "name"] as ["jobId", "name"] };
      try {
        const { jobs } = await service.jobs.list({ search: text, ...page }, options);
        if (!controller.signal.aborted) setFound({ text, jobs });
      } catch (error) {
        checkAccess(error);
      }
    }, SEARCH_AFTER_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [text]);
  return found.text === text ? found.jobs : [];
}
