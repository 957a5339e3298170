import { mongo, Schema } from "mongoose";

/**
 * A field of a stored document: its mongoose definition, with the type of its values. mongoose infers neither which fields may
 * be null nor which may be missing, so these definitions carry it.
 */
export interface Field<T, O extends boolean = false> {
  readonly type: unknown;
  readonly enum?: readonly unknown[];
  readonly validate?: (value: unknown) => boolean;
  readonly default?: undefined;
  readonly isNullable?: true;
  /** Whether the field may be missing. */
  readonly isOptional?: O;
  /** The type of its values. Nothing is stored here. */
  readonly value?: T;
}

export type Fields = Readonly<Record<string, Field<unknown, boolean>>>;

/** A nested document. */
export interface Nested<F extends Fields> extends Field<Flat<StoredFields<F>>> {
  readonly fields: F;
}

type OptionalKeys<F extends Fields> = { [K in keyof F]: F[K] extends Field<unknown, true> ? K : never }[keyof F];
type ValueOf<F> = F extends Field<infer T, boolean> ? T : never;
type StoredFields<F extends Fields> = {
  -readonly [K in Exclude<keyof F, OptionalKeys<F>>]: ValueOf<F[K]>;
} & { -readonly [K in OptionalKeys<F>]?: ValueOf<F[K]> };
type Flat<T> = { [K in keyof T]: T[K] };
/** The type of the values of a field or a nested document. */
export type Stored<F> = ValueOf<F>;

/** Options of the schema of each collection: documents are stored as they are given, and unknown fields are mistakes. */
const STORED = {
  strict: "throw",
  minimize: false,
  versionKey: false,
  id: false,
  autoCreate: false,
  autoIndex: false,
} as const;

const field = <T>(type: unknown) => ({ type }) as Field<T>;
const instanceOf = <T>(type: abstract new (...args: never[]) => T) =>
  ({ type: Schema.Types.Mixed, validate: (value) => value === null || value instanceof type }) as Field<T>;

export const string = field<string>(String);
export const number = field<number>(Number);
export const boolean = field<boolean>(Boolean);
export const date = field<Date>(Date);
export const objectId = field<mongo.ObjectId>(Schema.Types.ObjectId);
/** mongoose has no type for BSON's timestamps, and would turn binaries into buffers. */
export const timestamp = instanceOf(mongo.Timestamp);
export const binary = instanceOf(mongo.Binary);

/** One of a few texts. */
export const oneOf = <const T extends readonly string[]>(values: T): Field<T[number]> => ({
  type: String,
  enum: values,
});

/** A value that mongoose neither checks nor casts. */
export const free = <T>() => field<T>(Schema.Types.Mixed);

/** A nested document. */
export const object = <F extends Fields>(fields: F): Nested<F> => ({
  type: new Schema(fields as never, { ...STORED, _id: false }),
  fields,
});

export const listOf = <T>(item: Field<T>): Field<T[]> => ({ type: [item], default: undefined });

/** A field that is null, and never missing, where it has no value. */
export const nullable = <T>(one: Field<T>): Field<T | null> => ({ ...one, isNullable: true }) as Field<T | null>;

/** A field that may be missing, and is never null unless it is nullable too. */
export const optional = <T>(one: Field<T>): Field<T, true> => ({ ...one, isOptional: true }) as Field<T, true>;

/** Returns the schema of a collection's documents, to which its indexes are added. */
export const schemaOf = <F extends Fields>({ fields }: Nested<F>): Schema<Flat<StoredFields<F>>> =>
  new Schema(fields as never, STORED) as never;
