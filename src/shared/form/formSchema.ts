/** The schema of a field, in every form that a question may have. */
export interface FieldSchema {
  readonly type: "string" | "number" | "integer" | "boolean" | "array";
  readonly title?: string;
  readonly description?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly format?: "email" | "uri" | "date" | "date-time";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly enumNames?: readonly string[];
  readonly oneOf?: readonly Option[];
  readonly items?: { readonly enum?: readonly string[]; readonly anyOf?: readonly Option[] };
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
}

interface Option {
  readonly const: string;
  readonly title: string;
}

/** A `requestedSchema` that was checked when its gate was opened. */
export interface FormSchema {
  readonly properties: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
}
