/** The filters of a list by name: the values that one can have, or null for any text. */
type Filters = Readonly<Record<string, readonly string[] | null>>;

type Given<F extends Filters> = { [Name in keyof F]?: F[Name] extends readonly (infer Value)[] ? Value : string };

/** Returns the filters that an address has, without empty and unknown values. */
export function givenFilters<const F extends Filters>(query: URLSearchParams, filters: F): Given<F> {
  const given = Object.entries(filters).flatMap(([name, values]) => {
    const value = query.get(name);
    return value && (values === null || values.includes(value)) ? [[name, value]] : [];
  });
  return Object.fromEntries(given);
}
