import Type, { type Static, type TProperties, type TSchema } from "typebox";
import { IDENTIFIER_PATTERN, MAX_CALLBACK_URL_CHARS, MAX_IDENTIFIER_LENGTH } from "../shared/text/text.ts";

/** Building blocks of the wire shapes. A schema with a title is a named schema in openapi.json. */

/** Returns the schema of a value that may be null, by default with the description of the value. */
export const nullable = <T extends TSchema>(schema: T, options = {}) => {
  const { description } = schema as { description?: string };
  return Type.Union([schema, Type.Null()], { ...(description !== undefined && { description }), ...options });
};

/** Returns the schema of the rows of a page. */
export const Rows = <T extends TSchema>(row: T) => Type.Array(row, { description: "The rows of this page." });

export const Identifier = (description: string) =>
  Type.String({ minLength: 1, maxLength: MAX_IDENTIFIER_LENGTH, pattern: IDENTIFIER_PATTERN, description });

export const JobId = Identifier("Identifies the job. Chosen by the client; percent-encode it in a URL.");
export const StepKey = Identifier(
  "Identifies the step within its job. Chosen by the client; percent-encode it in a URL.",
);

export const Progress = (description: string) => Type.Number({ minimum: 0, maximum: 100, description });

export const FreeObject = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({
    type: "object",
    additionalProperties: true,
    title: "JsonObject",
    description,
  });

export const Timestamp = (description: string) => Type.String({ format: "date-time", description });
export const TimestampOrNull = (description: string) => nullable(Timestamp(description));

export const Count = (description: string) => Type.Integer({ minimum: 0, description });

export const Name = Type.String({ maxLength: 1_024, description: "A name for people." });
export const Text = Type.String({ maxLength: 65_536 });

export const Status = Type.Enum(["running", "completed", "failed"], {
  title: "Status",
  description: "Whether the work is in progress, has succeeded or has failed.",
});

/** Numbers of records by status. */
export const StatusCounts = (description: string) =>
  Type.Object(
    {
      running: Count("The number of running ones."),
      completed: Count("The number of completed ones."),
      failed: Count("The number of failed ones."),
    },
    { ...named("StatusCounts"), description },
  );
export type StatusCounts = Static<ReturnType<typeof StatusCounts>>;

/** Returns the options of an object without other fields that is a named schema in openapi.json. */
export const named = <T extends string>(title: T) => ({ additionalProperties: false as const, title });

/** Present on the responses to reports and changes of a job. */
export const cancelRequested = Type.Optional(
  Type.Literal(true, {
    description:
      "Present once cancellation of the job was requested: stop the work and report the step as failed with `failJob`. Reports that are in flight at the same time can still lack it.",
  }),
);

/** Returns the schemas of fields that a client may send back unchanged; the service ignores them. */
export const readOnly = (...names: string[]): TProperties =>
  Object.fromEntries(
    names.map((name) => [
      name,
      Type.Optional(
        Type.Unknown({ readOnly: true, description: "Ignored: you can send a record back as you read it." }),
      ),
    ]),
  );

/** The address of a callback. Its host is checked by `checkCallbackUrl`. */
export const CallbackUrl = (subject: string) =>
  Type.String({
    minLength: 1,
    maxLength: MAX_CALLBACK_URL_CHARS,
    description: `Address to which the end of the ${subject} is sent as a signed webhook. Its host must match \`outbound.allowedHosts\` of the configuration.`,
  });

export const RuleId = Identifier("The id of a rule of `notify`.");

/**
 * An attempt that failed.
 * @param title the name of the schema
 * @param error the schema of an error
 * @param further fields of an attempt
 */
export const FailedAttempt = <Error extends TSchema, Further extends TProperties>(
  title: string,
  error: Error,
  further: Further,
) =>
  Type.Object(
    {
      attempt: Type.Integer({ minimum: 1, description: "The number of the attempt." }),
      error,
      ...further,
      startedAt: Timestamp("When the attempt started."),
      endedAt: Timestamp("When the attempt failed."),
    },
    named(title),
  );

/** The latest attempts that failed. */
export const FailedAttempts = <Attempt extends TSchema>(attempt: Attempt, description: string) =>
  Type.Optional(Type.Array(attempt, { maxItems: 20, description }));

export const Ok = Type.Object({ ok: Type.Literal(true, { description: "Always true." }) }, named("Ok"));

export const nextCursor = nullable(Type.String(), {
  description: "Send it as `cursor` to read the next page. Null on the last page.",
});
