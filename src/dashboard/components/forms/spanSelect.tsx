import { SPANS } from "../../data/job/jobSearch.ts";
import { navigate, withQuery } from "../../router.ts";

/** Chooses the span of time in which the rows of a list were created. @param label the name of that time */
export function SpanSelect({ query, label }: { query: URLSearchParams; label: string }) {
  return (
    <select
      aria-label={label}
      value={query.get("created") ?? ""}
      onChange={({ currentTarget: { value } }) => navigate(withQuery(query, { created: value || null }))}
    >
      <option value="">Any time</option>
      {Object.entries(SPANS).map(([key, { title }]) => (
        <option key={key} value={key}>
          {title}
        </option>
      ))}
    </select>
  );
}
