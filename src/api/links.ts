import type { TSchema } from "typebox";
import type { AnyRoute } from "./route.ts";

/** Where the values of names are, as OpenAPI's runtime expressions. */
type Places = Readonly<Record<string, string>>;

/**
 * Which calls can follow an answer: those with an identifier in their path that this call was given, or has answered with
 * under the same name. Undefined where there are none. What was deleted leads nowhere.
 */
export function linksFrom(r: AnyRoute, answer: TSchema, routes: readonly AnyRoute[]): object | undefined {
  if (r.method === "delete") return undefined;
  const known: Places = { ...placesIn(answer), ...given(r) };
  const links = routes.flatMap(({ operationId, schemas }) => {
    if (operationId === r.operationId) return [];
    const names = identifiers(schemas.params).filter((name) => name in known);
    if (names.length === 0) return [];
    const parameters = Object.fromEntries(names.map((name) => [name, known[name]]));
    return [[operationId, { operationId, parameters }]];
  });
  return links.length > 0 ? Object.fromEntries(links) : undefined;
}

const given = (r: AnyRoute): Places =>
  Object.fromEntries(identifiers(r.schemas.params).map((name) => [name, `$request.path.${name}`]));

/** Of a list its first row counts. */
function placesIn(answer: ObjectSchema): Places {
  const inRows = Object.entries(answer.properties ?? {}).flatMap(([list, { items }]) =>
    identifiers(items).map((name) => [name, `$response.body#/${list}/0/${name}`]),
  );
  const own = identifiers(answer).map((name) => [name, `$response.body#/${name}`]);
  return Object.fromEntries([...inRows, ...own]);
}

const identifiers = (schema: ObjectSchema | undefined): string[] =>
  Object.keys(schema?.properties ?? {}).filter((name) => /(Id|Key)$/.test(name));

type ObjectSchema = TSchema & {
  readonly properties?: Readonly<Record<string, ObjectSchema>>;
  readonly items?: ObjectSchema;
};
