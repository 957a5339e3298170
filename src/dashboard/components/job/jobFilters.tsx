import { useEffect, useRef, useState } from "preact/hooks";
import { COLUMN_NAMES, JOB_COLUMNS, jobColumns, showJobColumn } from "../../data/job/jobColumns.ts";
import type { JobRow } from "../../data/job/jobRows.ts";
import { parseSearch, termsOf, termText, withoutTerm, withSearch, wordsText } from "../../data/job/jobSearch.ts";
import { suggestions } from "../../data/job/metadata.ts";
import { service } from "../../data/service.ts";
import { address, place as here, navigate } from "../../router.ts";
import { visible } from "../../text.ts";
import { SpanFilter } from "../tables/filters.tsx";

const DEBOUNCE_MS = 250;
const HINT = "Words of a name, an id, team=sales or status:failed";

/** Opens the list with these filters. */
const show = (query: URLSearchParams, options?: { replace: boolean }): void =>
  navigate(address("/") + (query.size > 0 ? `?${query}` : ""), options);

const wordsOf = (query: URLSearchParams): string => wordsText(query.get("search") ?? "");
const withoutWords = (query: URLSearchParams): URLSearchParams => withSearch(query, { words: "", terms: [] });

interface FiltersProps {
  readonly query: URLSearchParams;
  /** Returns the loaded rows. */
  readonly rows: () => readonly JobRow[];
}

/** The search field, the filters as chips, the time of creation, and the choice of columns. */
export function JobFilters({ query, rows }: FiltersProps) {
  return (
    <search class="filters line">
      <SearchField query={query} rows={rows} />
      <SpanFilter query={query} title="Created" />
      <JobColumnsMenu />
    </search>
  );
}

/**
 * The search field. What is typed filters the list at once. Pairs such as `team=sales` become chips when a space or Enter
 * follows; words stay in the field. Enter opens the job whose whole id is in the field.
 */
function SearchField({ query, rows }: FiltersProps) {
  const address_ = query.toString();
  const [text, setText] = useState(() => wordsOf(query));
  /** The address without what the field adds to it: the filters that are chips. */
  const [chips, setChips] = useState(() => withoutWords(query));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const written = useRef(address_); // The address that this field's own search produced.
  const search = (typed: string, from = chips) => {
    clearTimeout(timer.current);
    const to = withSearch(from, parseSearch(typed));
    written.current = to.toString();
    show(to, { replace: true });
  };
  /** Makes chips of the pairs in the field. */
  const commit = (typed: string) => {
    const { words, terms } = parseSearch(typed);
    const next = withSearch(chips, { words: "", terms });
    setChips(next);
    setText(words && terms.length > 0 ? `${wordsText(words)} ` : wordsText(words));
    search(wordsText(words), next);
  };
  useEffect(() => {
    if (address_ === written.current) return; // The user may still be typing.
    clearTimeout(timer.current);
    written.current = address_;
    setText(wordsOf(query));
    setChips(withoutWords(query));
  }, [address_]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const onInput = (typed: string) => {
    clearTimeout(timer.current);
    if (endsPair(typed)) return commit(typed);
    setText(typed);
    timer.current = setTimeout(() => search(typed), DEBOUNCE_MS);
  };
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          commit(text);
          void openJob(text);
        }}
      >
        <input
          type="search"
          value={text}
          placeholder={HINT}
          aria-label="Search jobs: words of a name, the start of an id, key=value for metadata, status:failed"
          list="job-suggestions"
          autocomplete="off"
          onInput={({ currentTarget: { value } }) => onInput(value)}
        />
        <datalist id="job-suggestions">
          {suggestions(text, rows()).map((completion) => (
            <option key={completion} value={completion} />
          ))}
        </datalist>
      </form>
      <Chips query={chips} />
    </>
  );
}

/** Returns whether a text ends with a space after a pair, outside of quotes. An id may contain spaces. */
function endsPair(text: string): boolean {
  const { terms } = parseSearch(text);
  const isQuoted = (text.split('"').length - 1) % 2 === 1;
  return /\s$/.test(text) && !isQuoted && terms.length > 0 && !terms.some(([name]) => name === "jobId");
}

/** Opens the job whose id is the text, if there is one. */
async function openJob(text: string): Promise<void> {
  const { words, terms } = parseSearch(text);
  const [term] = terms;
  const jobId = term?.[0] === "jobId" && words === "" ? term[1] : text.trim();
  if (jobId === "") return;
  const from = here.value.path;
  const job = await service.jobs.get(jobId).catch(() => null); // The list shows what else was found, and errors.
  if (job && here.value.path === from) navigate(address("/jobs/:jobId", jobId));
}

function Chips({ query }: { query: URLSearchParams }) {
  const terms = termsOf(query).map((term) => ({ term, text: visible(termText(term)) }));
  if (terms.length === 0) return null;
  return (
    <ul class="chips line" aria-label="Filters">
      {terms.map(({ term, text }) => (
        <li key={text}>
          <button
            type="button"
            class="chip"
            aria-label={`Remove the filter ${text}`}
            onClick={() => show(withoutTerm(here.value.query, term))}
          >
            <bdi>{text}</bdi> <span aria-hidden="true">×</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** The choice of columns of the list of jobs. */
function JobColumnsMenu() {
  return (
    <details class="columns menu">
      <summary class="button">Columns</summary>
      <fieldset class="popover">
        <legend class="unseen">Columns of the list</legend>
        {COLUMN_NAMES.map((name) => (
          <label key={name} class="choice">
            <input
              type="checkbox"
              checked={jobColumns.value.includes(name)}
              onChange={({ currentTarget: { checked } }) => showJobColumn(name, checked)}
            />{" "}
            {JOB_COLUMNS[name].title}
          </label>
        ))}
      </fieldset>
    </details>
  );
}
