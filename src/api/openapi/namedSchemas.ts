import { isDeepStrictEqual } from "node:util";

interface Described {
  readonly description?: string;
}

/** The schemas that openapi.json names, by name. Code generators produce one type for each of them. */
export class NamedSchemas {
  readonly components: Record<string, Described> = {
    JsonObject: { type: "object", additionalProperties: true, description: "Any JSON object." } as Described,
  };

  /**
   * Returns a part of the document with each schema that has a title replaced by a reference, and adds the schema to
   * `components` by its title. A description that differs from that of the component stays beside the reference.
   * @throws Error when two different schemas have the same title
   */
  extract(part: unknown): unknown {
    if (typeof part !== "object" || part === null) return part;
    if (Array.isArray(part)) return part.map((item) => this.extract(item));
    const fields = Object.entries(part).map(([key, value]) => [
      key,
      key === "example" ? value : this.extract(value), // an example may have a title of its own
    ]);
    const copy = withoutRepetition(Object.fromEntries(fields));
    const { title, ...schema } = copy;
    return typeof title === "string" ? this.#reference(title, schema) : copy;
  }

  #reference(title: string, { description, ...schema }: Described): object {
    this.components[title] ??= { ...schema, ...(description !== undefined && { description }) };
    const { description: usual, ...known } = this.components[title];
    if (!isDeepStrictEqual(known, schema)) throw new Error(`Two schemas have the title ${title}`);
    const $ref = `#/components/schemas/${title}`;
    return description === usual || description === undefined ? { $ref } : { $ref, description };
  }
}

interface Schema extends Described {
  readonly title?: unknown;
  readonly anyOf?: readonly Described[];
}

/** Removes descriptions from the schemas of a union that equal the description of the union. */
function withoutRepetition(schema: Schema): Schema {
  if (!schema.anyOf) return schema;
  const anyOf = schema.anyOf.map(({ description, ...one }) => ({
    ...one,
    ...(description !== undefined && description !== schema.description && { description }),
  }));
  return { ...schema, anyOf };
}
