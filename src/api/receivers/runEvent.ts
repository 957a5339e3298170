import Type, { type Static, type TProperties } from "typebox";
import * as s from "../../wire/blocks.ts";

const text = (description: string) => Type.String({ description });

/** An object of which only these fields are read. */
const part = <P extends TProperties>(title: string, properties: P, description: string) =>
  Type.Object(properties, { additionalProperties: true, title: `Lineage${title}`, description });

const runId = s.Identifier("Identifies the run, usually a UUID.");
const names = {
  namespace: text("The scheduler or the system of the job."),
  name: text("Name of the job."),
};
const RunRef = part("RunRef", { runId }, "A run.");
const JobRef = part("JobRef", names, "A job, which its runs repeat.");
const ref = { run: RunRef, job: JobRef };

const runFacets = {
  parent: Type.Optional(
    part(
      "Parent",
      { ...ref, root: Type.Optional(part("Root", ref, "The run at the top, which is the job.")) },
      "The run that this run is part of.",
    ),
  ),
  errorMessage: Type.Optional(
    part("Error", { message: text("The message of the job or step.") }, "Why the run has failed."),
  ),
  nominalTime: Type.Optional(
    part(
      "NominalTime",
      {
        nominalStartTime: Type.Optional(text("The time that the run is for.")),
        nominalEndTime: Type.Optional(text("The end of that time.")),
      },
      "Kept in the metadata of the job.",
    ),
  ),
};

const jobFacets = {
  sourceCodeLocation: Type.Optional(
    part("SourceCode", { url: Type.Optional(text("Becomes a link.")) }, "The location of the code of the job."),
  ),
  jobType: Type.Optional(
    part(
      "JobType",
      {
        processingType: Type.Optional(text("Such as `BATCH`.")),
        integration: Type.Optional(text("Such as `AIRFLOW`.")),
        jobType: Type.Optional(text("Such as `DAG`.")),
      },
      "Kept in the metadata of the job.",
    ),
  ),
};

/**
 * A run event of OpenLineage, as far as it is read. Senders add facets, so that all other fields are ignored.
 * Source: https://openlineage.io/spec/2-0-2/OpenLineage.json
 */
export const RunEvent = part(
  "Event",
  {
    eventType: Type.Optional(
      Type.Enum(["START", "RUNNING", "COMPLETE", "FAIL", "ABORT", "OTHER"], {
        description: "The change of the run. `OTHER` changes no status, and neither does an event without a type.",
      }),
    ),
    eventTime: s.Timestamp("When it happened. Decides the order of the events of a run, whenever they arrive."),
    run: part(
      "Run",
      { runId, facets: Type.Optional(part("RunFacets", runFacets, "Details of the run. Others are ignored.")) },
      "The run that the event is about.",
    ),
    job: part(
      "Job",
      { ...names, facets: Type.Optional(part("JobFacets", jobFacets, "Details of the job. Others are ignored.")) },
      "The job that the run repeats.",
    ),
  },
  "A run event of OpenLineage. Other fields are ignored.",
);
export type RunEvent = Static<typeof RunEvent>;
