import { useState } from "preact/hooks";
import { hookRequests, service } from "../../data/service.ts";
import { navigate, withQuery } from "../../router.ts";
import { SpanSelect } from "../forms/spanSelect.tsx";
import { FilterChips } from "../tables/filterChips.tsx";

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
    <search class="filters line">
      <TextFilter query={query} name="search" title="Words of the name, or an id" />
      <TextFilter query={query} name="mapping" title="Hook: name of a mapping" suggest={mappingNames} />
      <TextFilter query={query} name="sessionKey" title="Session: its whole key" suggest={sessionKeys} />
      <SpanSelect query={query} label="Accepted" />
      <FilterChips query={query} filters={CHIPS} />
    </search>
  );
}

const mappingNames = async () => (await hookRequests.hooks()).hooks.flatMap(({ mappings }) => mappings);

const sessionKeys = async () =>
  (await service.sessions.list({ limit: 100 })).sessions.map(({ sessionKey }) => sessionKey);

interface TextFilterProps {
  readonly query: URLSearchParams;
  readonly name: string;
  readonly title: string;
  /** Loads values to choose from, when the field is first entered. */
  readonly suggest?: () => Promise<readonly string[]>;
}

/** A field that sets a filter when Enter is pressed. */
function TextFilter({ query, name, title, suggest }: TextFilterProps) {
  const [values, setValues] = useState<readonly string[] | null>(null);
  const value = query.get(name) ?? "";
  const load = () => {
    if (!suggest || values) return;
    suggest().then(setValues, () => {}); // The field works without them.
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const text = String(new FormData(event.currentTarget).get(name)).trim();
        navigate(withQuery(query, { [name]: text || null }));
      }}
    >
      <input
        key={value}
        type="search"
        name={name}
        defaultValue={value}
        placeholder={title}
        aria-label={title}
        list={suggest && `${name}-values`}
        onFocus={load}
      />
      {suggest && (
        <datalist id={`${name}-values`}>
          {values?.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      )}
    </form>
  );
}
