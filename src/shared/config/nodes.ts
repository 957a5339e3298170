import Type, { type TSchema } from "typebox";
import { DURATION_PATTERN } from "./formats/duration.ts";

/**
 * `env`: the environment variable that overrides the key. `secret`: never shown in a log or by a command; where it says
 * `credentials`, the value is an address whose user, password and query are not shown.
 */
export interface Extra {
  readonly env?: string;
  readonly secret?: true | "credentials";
}

/** A part of the configuration's schema as a program that walks it sees it. */
export interface ConfigNode extends Extra {
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
  /** What is under each key of a map. False: the keys are those of `properties` alone. */
  readonly additionalProperties?: ConfigNode | false;
  readonly items?: ConfigNode;
}

/** What is said of one key of a section or a map. */
export function childNode(node: ConfigNode | undefined, key: string): ConfigNode | undefined {
  const { properties = {}, additionalProperties } = node ?? {};
  return Object.hasOwn(properties, key) ? properties[key] : additionalProperties || undefined;
}

interface TextOptions extends Extra {
  readonly description: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly default?: string;
  readonly examples?: readonly string[];
}

interface NumberOptions extends Extra {
  readonly description: string;
  readonly default: number;
  readonly minimum: number;
  readonly maximum: number;
}

export const section = <P extends Record<string, TSchema>>(properties: P, description: string) =>
  Type.Object(properties, { additionalProperties: false, default: {}, description });

/** A section that may be absent altogether. */
export const block = <P extends Record<string, TSchema>>(properties: P, description: string) =>
  Type.Optional(Type.Object(properties, { additionalProperties: false, description }));

export const text = (options: TextOptions) => Type.String({ minLength: 1, ...options });

/** A secret that a client sends in a header: nothing there could carry a space or a letter beyond ASCII. */
export const token = (options: Omit<TextOptions, "pattern" | "minLength" | "examples">) =>
  text({
    minLength: 16,
    pattern: "^[!-~]+$",
    secret: true,
    examples: ["sixteen-or-more-characters-without-spaces"],
    ...options,
  });

export const whole = (options: NumberOptions) => Type.Integer({ ...options });

export const flag = (options: { description: string; default: boolean } & Extra) => Type.Boolean({ ...options });

export const duration = (options: { description: string; default?: string }) =>
  Type.String({ pattern: DURATION_PATTERN, examples: [options.default ?? "30d"], ...options });

/** A map whose keys are free. */
export const textMap = (options: { description: string; examples: readonly object[] } & Extra) =>
  Type.Unsafe<Record<string, string>>({
    type: "object",
    additionalProperties: { type: "string" },
    ...options,
  });
