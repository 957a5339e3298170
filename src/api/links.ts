import type { TSchema } from "typebox";
import type { AnyRoute } from "./routing/route.ts";

/** OpenAPI's runtime expressions for values, by the names of the values. */
type Expressions = Readonly<Record<string, string>>;

/**
 * Returns OpenAPI links from a response to the operations that can follow it: those whose path has an identifier that the
 * request or the response contains under the same name. Undefined when there are none, and for deletions.
 */
export function linksFrom(r: AnyRoute, answer: TSchema, routes: readonly AnyRoute[]): object | undefined {
  if (r.method === "delete") return undefined;
  const available: Expressions = { ...responseExpressions(answer), ...requestExpressions(r) };
  const links = routes.flatMap(({ operationId, schemas }) => {
    if (operationId === r.operationId) return [];
    const names = identifiers(schemas.params).filter((name) => name in available);
    if (names.length === 0) return [];
    const parameters = Object.fromEntries(names.map((name) => [name, available[name]]));
    return [[operationId, { operationId, parameters }]];
  });
  return links.length > 0 ? Object.fromEntries(links) : undefined;
}

const requestExpressions = (r: AnyRoute): Expressions =>
  Object.fromEntries(identifiers(r.schemas.params).map((name) => [name, `$request.path.${name}`]));

/** Takes the values of a list from its first row. */
function responseExpressions(answer: ObjectSchema): Expressions {
  const inRows = Object.entries(answer.properties ?? {}).flatMap(([list, { items }]) =>
    identifiers(items).map((name) => [name, `$response.body#/${list}/0/${name}`]),
  );
  const fields = identifiers(answer).map((name) => [name, `$response.body#/${name}`]);
  return Object.fromEntries([...inRows, ...fields]);
}

const identifiers = (schema: ObjectSchema | undefined): string[] =>
  Object.keys(schema?.properties ?? {}).filter((name) => /(Id|Key)$/.test(name));

type ObjectSchema = TSchema & {
  readonly properties?: Readonly<Record<string, ObjectSchema>>;
  readonly items?: ObjectSchema;
};
