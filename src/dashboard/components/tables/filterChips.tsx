import { withQuery } from "../../router.ts";
import { visible } from "../../text.ts";

interface FilterChipsProps {
  readonly query: URLSearchParams;
  /** The parameters that the chips remove, with the names of the filters on the page. */
  readonly filters: readonly (readonly [name: string, title: string])[];
}

/** The filters of a list, each of which is removed by a click; nothing without filters. */
export function FilterChips({ query, filters }: FilterChipsProps) {
  const given = filters.filter(([name]) => query.get(name));
  if (given.length === 0) return null;
  return (
    <p class="chips line">
      {given.map(([name, title]) => (
        <a key={name} class="chip" href={withQuery(query, { [name]: null })} title="Remove this filter">
          {title} <bdi>{visible(query.get(name) ?? "")}</bdi> ×
        </a>
      ))}
    </p>
  );
}
