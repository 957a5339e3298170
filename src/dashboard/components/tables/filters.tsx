import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { SPANS } from "../../data/job/jobSearch.ts";
import { navigate, withQuery } from "../../router.ts";
import { visible } from "../../text.ts";
import { count } from "../../time.ts";

interface PillsProps {
  readonly label: string;
  readonly query: URLSearchParams;
  /** The parameter of the address that the pills set. */
  readonly parameter: string;
  /** The values with their titles; null removes the parameter, and is chosen while it has no value of these. */
  readonly choices: readonly (readonly [value: string | null, title: string])[];
  /** The chosen value, where none of them is null. */
  readonly current?: string;
  /** The numbers of rows by value, and `total`; null until they are read. Without them the pills have no numbers. */
  readonly counts?: Readonly<Record<string, number>> | null | undefined;
  /** Whether more rows match than were counted. */
  readonly isCapped?: boolean | undefined;
}

/** Links above a list that choose one value of a filter. */
export function Pills({ label, query, parameter, choices, current, counts, isCapped = false }: PillsProps) {
  const given = current ?? query.get(parameter);
  const [chosen = null] = choices.find(([value]) => value === given) ?? [];
  return (
    <nav class="counts" aria-label={label}>
      {choices.map(([value, title]) => (
        <Pill
          key={value}
          kind={value ?? "all"}
          href={withQuery(query, { [parameter]: value })}
          isCurrent={value === chosen}
          rows={counts === null ? null : counts?.[value ?? "total"]}
          isCapped={isCapped}
        >
          {title}
        </Pill>
      ))}
    </nav>
  );
}

interface PillProps {
  readonly kind: string;
  readonly href: string;
  readonly isCurrent: boolean;
  /** The number of rows, null until it is read; undefined for a pill without a number. */
  readonly rows?: number | null | undefined;
  readonly isCapped?: boolean | undefined;
  readonly children: ComponentChildren;
}

export function Pill({ kind, href, isCurrent, rows, isCapped = false, children }: PillProps) {
  return (
    <a class={`count count-${kind}`} href={href} aria-current={isCurrent ? "true" : undefined}>
      {children} {rows !== undefined && <b class={rows ? "some" : undefined}>{countText(rows, isCapped)}</b>}
    </a>
  );
}

/** Returns a number of rows; with a plus if more match than were counted. */
export const countText = (rows: number | null, isCapped: boolean): string =>
  rows === null ? "–" : count(rows) + (isCapped ? "+" : "");

/** Returns the choices of a filter by state: all, then each state with its name as title. */
export const stateChoices = <State extends string>(states: readonly State[]): [State | null, string][] => [
  [null, "All"],
  ...states.map((one): [State, string] => [one, `${one.charAt(0).toUpperCase()}${one.slice(1)}`]),
];

interface FilterChipsProps {
  readonly query: URLSearchParams;
  /** The names of the filters on the page, by the parameters that the chips remove. */
  readonly titles: Readonly<Record<string, string>>;
}

/** The filters of a list, each of which is removed by a click; nothing without filters. */
export function FilterChips({ query, titles }: FilterChipsProps) {
  const given = Object.entries(titles).filter(([name]) => query.get(name));
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

interface FilterProps {
  readonly query: URLSearchParams;
  /** The parameter of the address that the field sets. */
  readonly name: string;
  readonly title: string;
}

interface TextFilterProps extends FilterProps {
  /** Loads values to choose from, when the field is first entered. */
  readonly suggest?: () => Promise<readonly string[]>;
}

/** A field that sets a filter when Enter is pressed. */
export function TextFilter({ query, name, title, suggest }: TextFilterProps) {
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

interface SelectFilterProps extends FilterProps {
  /** The title of the choice without the filter. */
  readonly any: string;
  /** The titles of the values. */
  readonly options: Readonly<Record<string, string>>;
}

/** Chooses the value of a filter. */
export function SelectFilter({ query, name, title, any, options }: SelectFilterProps) {
  return (
    <select
      aria-label={title}
      value={query.get(name) ?? ""}
      onChange={({ currentTarget: { value } }) => navigate(withQuery(query, { [name]: value || null }))}
    >
      <option value="">{any}</option>
      {Object.entries(options).map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}

const SPAN_TITLES = Object.fromEntries(Object.entries(SPANS).map(([key, { title }]) => [key, title]));

/** Chooses the span of time in which the rows of a list were created. @param title the name of that time */
export const SpanFilter = (props: Pick<FilterProps, "query" | "title">) => (
  <SelectFilter {...props} name="created" any="Any time" options={SPAN_TITLES} />
);
