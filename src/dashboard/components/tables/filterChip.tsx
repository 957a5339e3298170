import { withQuery } from "../../router.ts";
import { visible } from "../../text.ts";

interface FilterChipProps {
  readonly query: URLSearchParams;
  /** The parameter that the chip removes. */
  readonly name: string;
  /** The name of the filter on the page. */
  readonly title: string;
}

/** A filter of a list, which is removed by a click; nothing without the filter. */
export function FilterChip({ query, name, title }: FilterChipProps) {
  const value = query.get(name);
  if (!value) return null;
  return (
    <a class="chip" href={withQuery(query, { [name]: null })} title="Remove this filter">
      {title} <bdi>{visible(value)}</bdi> ×
    </a>
  );
}
