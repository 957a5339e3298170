import Type, { type Static } from "typebox";
import { parsePath, parseTemplate, TemplateError } from "../../shared/text/template.ts";
import { type Frozen, text } from "../nodes.ts";

const template = (description: string, example: string) =>
  Type.Optional(text({ description: `${description} A template.`, examples: [example] }));

const words = (description: string, example: string) =>
  Type.Optional(
    Type.Array(Type.String({ minLength: 1 }), { minItems: 1, uniqueItems: true, description, examples: [[example]] }),
  );

const percent = (description: string) => Type.Optional(Type.Number({ minimum: 0, maximum: 100, description }));

const StepSchema = Type.Object(
  {
    key: text({
      examples: ["{{payload.stage}}"],
      description:
        "Identifies the step in its job. A request for which it is empty is about the job itself. A template.",
    }),
    name: template("Name of the step. The default is its key.", "{{payload.stage}}"),
    from: percent("Progress of the job when the step begins. Requires `to`."),
    to: percent("Progress of the job when the step is complete. At 100 the step completes the job. Requires `from`."),
    failJob: Type.Optional(Type.Boolean({ description: "Whether a failure of the step fails the job." })),
    forEach: Type.Optional(
      text({
        examples: ["payload.builds"],
        description:
          "Path of a list, each item of which is a step beside the job itself. Templates and paths refer to it as `item`.",
      }),
    ),
  },
  {
    additionalProperties: false,
    description: "The step that a request is about. Its status is then that of the step.",
  },
);

const StatusSchema = Type.Object(
  {
    path: Type.Unsafe<string | readonly string[]>({
      type: ["string", "array"],
      minLength: 1,
      items: { type: "string", minLength: 1 },
      minItems: 1,
      examples: ["payload.state"],
      description:
        "Path of the sender's word for the status, or a list of paths, of which the first with a value counts.",
    }),
    running: words("Words that mean running.", "started"),
    completed: words("Words that mean completed.", "done"),
    failed: words("Words that mean failed.", "error"),
  },
  { additionalProperties: false, description: "How to read the status. A request with another word changes nothing." },
);

/** The key `job` of a mapping. */
export const JobSchema = Type.Object(
  {
    id: text({
      examples: ["deploy/{{payload.id}}"],
      description: "Id of the job behind `idPrefix`. A request in which a value of it is missing fails. A template.",
    }),
    name: template("Name of the job.", "Deploy {{payload.app}}"),
    message: template("Message of the job or the step.", "{{payload.text}}"),
    step: Type.Optional(StepSchema),
    status: Type.Optional(StatusSchema),
    progress: template("Progress in percent, of the step if there is one.", "{{payload.percent}}"),
    links: Type.Optional(
      Type.Array(
        Type.Object(
          {
            title: text({ examples: ["Log"], description: "Text of the link. A template." }),
            url: text({
              examples: ["{{payload.log}}"],
              description: "Address of the link, http or https. A template.",
            }),
          },
          { additionalProperties: false },
        ),
        {
          maxItems: 20,
          examples: [[{ title: "Log", url: "{{payload.log}}" }]],
          description: "Links of the step, or of the job. One for whose address the request has no value is left out.",
        },
      ),
    ),
    output: Type.Optional(
      text({
        examples: ["payload.result"],
        description: "Path of the output of what is completed. The default is the sender's word as `status`.",
      }),
    ),
  },
  { additionalProperties: false, description: "For `action: job`: the job that a request reports." },
);

export type MappingJob = Frozen<Static<typeof JobSchema>>;

/** The templates and the paths of a job with the keys below `job` that have them. */
const templatesOf = ({ id, name, message, progress, step, links = [] }: MappingJob) => ({
  ...Object.fromEntries(
    links.flatMap(({ title, url }, i) => [
      [`links.${i}.title`, title],
      [`links.${i}.url`, url],
    ]),
  ),
  id,
  name,
  message,
  progress,
  "step.key": step?.key,
  "step.name": step?.name,
});
const pathsOf = ({ output, step, status }: MappingJob) => [
  ...[status?.path ?? []].flat().map((path) => ["status.path", path] as const),
  ...(output === undefined ? [] : [["output", output] as const]),
  ...(step?.forEach === undefined ? [] : [["step.forEach", step.forEach] as const]),
];

/** Returns a sentence, beginning with the key, for each fault in the job of a mapping that the schema does not find. */
export function jobFaults(job: MappingJob): string[] {
  const { step, status } = job;
  const templates = Object.entries(templatesOf(job)).flatMap(([key, template]) =>
    template === undefined ? [] : faultOf(key, () => parseTemplate(template)),
  );
  const paths = pathsOf(job).flatMap(([key, path]) => faultOf(key, () => parsePath(path)));
  const lists = [status?.running, status?.completed, status?.failed].flatMap((list) => list ?? []);
  const twice = lists.find((word, i) => lists.indexOf(word) < i);
  const { from, to } = step ?? {};
  return [
    ...templates,
    ...paths,
    ...(status && lists.length === 0 ? ["job.status has no words: add running, completed or failed"] : []),
    ...(twice === undefined ? [] : [`job.status has ${JSON.stringify(twice)} in two lists: leave it in one`]),
    ...((from === undefined) === (to === undefined) ? [] : ["job.step needs both from and to, or neither"]),
    ...(from !== undefined && to !== undefined && from > to ? ["job.step.to must not be less than from"] : []),
  ];
}

function faultOf(key: string, parse: () => unknown): string[] {
  try {
    parse();
    return [];
  } catch (error) {
    if (error instanceof TemplateError) return [`job.${key}: ${error.message}`];
    throw error;
  }
}
