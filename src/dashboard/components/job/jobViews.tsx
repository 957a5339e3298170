import { useEffect, useRef, useState } from "preact/hooks";
import { isFiltered } from "../../data/job/jobSearch.ts";
import { stored } from "../../data/stored.ts";
import { address } from "../../router.ts";

const MAX_NAME_CHARS = 60;

/** The saved views of this browser, and the button that saves the present filters as one. */
export function JobViews({ query }: { query: URLSearchParams }) {
  const text = query.toString();
  const views = jobViews.value;
  const canSave = (isFiltered(query) || query.has("created")) && !views.some((view) => view.query === text);
  if (views.length === 0 && !canSave) return null;
  return (
    <div class="line">
      {views.length > 0 && (
        <nav aria-label="Saved views" class="line">
          {views.map((view) => (
            <span key={view.name} class="chip">
              <a href={`${address("/")}?${view.query}`} aria-current={view.query === text ? "true" : undefined}>
                <bdi>{view.name}</bdi>
              </a>
              <button
                type="button"
                aria-label={`Remove the view ${view.name}`}
                onClick={() => removeJobView(view.name)}
              >
                <span aria-hidden="true">×</span>
              </button>
            </span>
          ))}
        </nav>
      )}
      {canSave && <SaveView key={text} text={text} />}
    </div>
  );
}

/** The button that saves the filters of the address under a name. */
function SaveView({ text }: { text: string }) {
  const [isNaming, setNaming] = useState(false);
  const [name, setName] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), [isNaming]);
  if (!isNaming) {
    return (
      <button type="button" onClick={() => setNaming(true)}>
        Save view
      </button>
    );
  }
  return (
    <form
      class="line"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim()) saveJobView({ name: name.trim(), query: text });
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") setNaming(false);
      }}
    >
      <input
        ref={field}
        type="text"
        aria-label="Name of the view"
        placeholder="Name of the view"
        required
        maxLength={MAX_NAME_CHARS}
        value={name}
        onInput={({ currentTarget: { value } }) => setName(value)}
      />
      <button type="submit">Save</button>
    </form>
  );
}

/** A saved view of the list of jobs: a name for the query of its address. */
interface JobView {
  readonly name: string;
  readonly query: string;
}

const MAX_VIEWS = 50;

const isView = (one: unknown): one is JobView => {
  const { name, query } = (one ?? {}) as Partial<JobView>;
  return typeof name === "string" && typeof query === "string";
};

const views = stored<readonly JobView[]>("signalbox.jobViews", (json) =>
  Array.isArray(json) ? json.filter(isView).slice(0, MAX_VIEWS) : [],
);

const jobViews = views.value;

/** Saves a view; one of the same name is replaced. */
function saveJobView(view: JobView): void {
  views.set([...jobViews.value.filter(({ name }) => name !== view.name), view].slice(-MAX_VIEWS));
}

function removeJobView(name: string): void {
  views.set(jobViews.value.filter((view) => view.name !== name));
}
