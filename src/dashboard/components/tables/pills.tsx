import { withQuery } from "../../router.ts";

interface PillsProps {
  readonly label: string;
  readonly query: URLSearchParams;
  /** The parameter of the address that the pills set. */
  readonly parameter: string;
  /** The values with their titles; null removes the parameter, and is chosen while it has no value of these. */
  readonly choices: readonly (readonly [value: string | null, title: string])[];
  /** The chosen value, where none of them is null. */
  readonly current?: string;
  /** Returns the number of rows of a choice in words; without it the pills have no numbers. */
  readonly countOf?: (value: string | null) => string;
}

/** Links above a list that choose one value of a filter. */
export function Pills({ label, query, parameter, choices, current, countOf }: PillsProps) {
  const given = current ?? query.get(parameter);
  const [chosen = null] = choices.find(([value]) => value === given) ?? [];
  return (
    <nav class="counts" aria-label={label}>
      {choices.map(([value, title]) => {
        const rows = countOf?.(value);
        return (
          <a
            key={value}
            class={`count count-${value ?? "all"}`}
            href={withQuery(query, { [parameter]: value })}
            aria-current={value === chosen ? "true" : undefined}
          >
            {title} {rows !== undefined && <b class={/[1-9]/.test(rows) ? "some" : undefined}>{rows}</b>}
          </a>
        );
      })}
    </nav>
  );
}

/** Returns the choices of a filter by state: all, then each state with its name as title. */
export const stateChoices = <State extends string>(states: readonly State[]): [State | null, string][] => [
  [null, "All"],
  ...states.map((one): [State, string] => [one, `${one.charAt(0).toUpperCase()}${one.slice(1)}`]),
];
