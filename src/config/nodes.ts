import Type, { type TSchema } from "typebox";
import { DURATION_PATTERN } from "../shared/text/duration.ts";

/**
 * The properties of a key in the schema beyond JSON Schema. `env` is the environment variable that overrides it. A `secret` is
 * never logged or printed; of an address with `credentials`, only user, password and query are hidden, with `path` the path too.
 */
export interface KeyOptions {
  readonly env?: string;
  readonly secret?: true | "credentials" | "path";
}

/** A node of the configuration's schema, for code that walks through it. */
export interface ConfigNode extends KeyOptions {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly pattern?: string;
  readonly default?: unknown;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, ConfigNode>>;
  /** The schema of a map's values; false when only the keys of `properties` are allowed. */
  readonly additionalProperties?: ConfigNode | false;
  readonly items?: ConfigNode;
}

/** A value of the configuration, which nothing changes. */
export type Frozen<T> = T extends object ? { readonly [K in keyof T]: Frozen<T[K]> } : T;

/** A check of keys that are valid by themselves. `C` has the sections that it reads. */
export interface Check<C> {
  /** The keys that it reads. It runs only when the schema finds no fault in them. */
  readonly reads: readonly string[];
  /** Returns a sentence for each fault. */
  readonly find: (config: C) => readonly (string | false | null | undefined)[];
}

/** Returns the schema of one key of a section or a map; undefined when the key is unknown. */
export function childNode(node: ConfigNode | undefined, key: string): ConfigNode | undefined {
  const { properties = {}, additionalProperties } = node ?? {};
  return Object.hasOwn(properties, key) ? properties[key] : additionalProperties || undefined;
}

interface TextOptions extends KeyOptions {
  readonly description: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly default?: string;
  readonly examples?: readonly string[];
}

/** Creates a section whose keys all have defaults. */
export const section = <P extends Record<string, TSchema>>(properties: P, description: string) =>
  Type.Object(properties, { additionalProperties: false, default: {}, description });

/** Creates a section that may be absent. */
export const optionalSection = <P extends Record<string, TSchema>>(properties: P, description: string) =>
  Type.Optional(Type.Object(properties, { additionalProperties: false, description }));

export const text = (options: TextOptions) => Type.String({ minLength: 1, ...options });

/** Creates a secret that clients send in a header, which cannot carry spaces or characters beyond ASCII. */
export const token = (options: Omit<TextOptions, "pattern" | "minLength" | "examples">) =>
  text({
    minLength: 16,
    pattern: "^[!-~]+$",
    secret: true,
    examples: ["sixteen-or-more-characters-without-spaces"],
    ...options,
  });

/** Creates a key with one token, or a list of tokens that are all accepted while one replaces another. */
export const tokens = (options: Omit<TextOptions, "pattern" | "minLength" | "examples">) =>
  Type.Unsafe<string | readonly string[]>({
    ...token(options),
    type: ["string", "array"],
    items: { type: "string", minLength: 16, pattern: "^[!-~]+$" },
    minItems: 1,
    uniqueItems: true,
  });

export const duration = (options: { description: string; default?: string; examples?: readonly string[] }) =>
  Type.String({ pattern: DURATION_PATTERN, examples: [options.default ?? "30d"], ...options });

/** Creates a map from any keys to texts. */
export const textMap = (options: { description: string; examples: readonly object[] } & KeyOptions) =>
  Type.Unsafe<Record<string, string>>({
    type: "object",
    additionalProperties: { type: "string" },
    ...options,
  });
