import { navigate, withQuery } from "../../router.ts";
import { SpanSelect } from "../forms/spanSelect.tsx";

/** The filters that are shown as chips, with their titles. */
const CHIPS = [
  ["search", "name"],
  ["mapping", "hook"],
  ["sessionKey", "session"],
  ["createdFrom", "from"],
  ["createdBefore", "before"],
] as const;

/** The filters of the list of runs: words of the name, hook, session and time. */
export function RunFilters({ query }: { query: URLSearchParams }) {
  return (
    <search class="filters">
      <TextFilter query={query} name="search" title="Words of the name, or an id" />
      <TextFilter query={query} name="mapping" title="Hook: name of a mapping" />
      <TextFilter query={query} name="sessionKey" title="Session: its whole key" />
      <SpanSelect query={query} label="Accepted" />
      {CHIPS.map(
        ([name, title]) =>
          query.get(name) && (
            <a key={name} class="chip" href={withQuery(query, { [name]: null })} title="Remove this filter">
              {title} <bdi>{query.get(name)}</bdi> ×
            </a>
          ),
      )}
    </search>
  );
}

interface TextFilterProps {
  readonly query: URLSearchParams;
  readonly name: string;
  readonly title: string;
}

/** A field that sets a filter when Enter is pressed. */
function TextFilter({ query, name, title }: TextFilterProps) {
  const value = query.get(name) ?? "";
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const text = String(new FormData(event.currentTarget).get(name)).trim();
        navigate(withQuery(query, { [name]: text || null }));
      }}
    >
      <input key={value} type="search" name={name} defaultValue={value} placeholder={title} aria-label={title} />
    </form>
  );
}
