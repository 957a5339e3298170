import { expect } from "chai";
import Type from "typebox";
import { clientTypes, TYPES } from "../script/clientTypes/published.ts";
import { NamedSchemas } from "../src/api/openapi/namedSchemas.ts";
import type { readJob } from "../src/models/jobs/read/readJobs.ts";
import type { readStep } from "../src/models/jobs/read/readSteps.ts";
import { named } from "../src/wire/blocks.ts";
import type { JobRead } from "../src/wire/job.ts";
import { type SingleStep, StepSummary } from "../src/wire/step.ts";

const PYTHON = "clients/python/src/signalbox_client/_records.py";
const JAVASCRIPT = "src/client/records/jobs.ts";

/** Is true if two types are the same. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Returned<F extends (...args: never[]) => unknown> = Awaited<ReturnType<F>>;

describe("the wire shapes", () => {
  const Grown = Type.Object(
    { ...StepSummary.properties, colour: Type.Optional(Type.Integer({ description: "The colour of the step." })) },
    named("StepSummary"),
  );
  const grown = {
    ...TYPES,
    "jobs.ts": { ...TYPES["jobs.ts"], StepSummary: { ...TYPES["jobs.ts"].StepSummary, schema: Grown } },
  };

  it("give a new field to the types of the JavaScript client", () => {
    expect(clientTypes(grown)[JAVASCRIPT]).to.include("  /** The colour of the step. */\n  colour?: number;\n}");
    expect(clientTypes()[JAVASCRIPT]).not.to.include("colour");
  });

  it("make a type extend the one whose fields it has too", () => {
    expect(clientTypes()[JAVASCRIPT]).to.include("export interface Step extends StepSummary {\n  /** Result");
  });

  it("let a caller write any object where a type is an argument", () => {
    expect(clientTypes()[JAVASCRIPT]).to.match(/interface JobFields \{[^}]* input\?: object \| null;/);
  });

  it("give a new field to the types of the Python client, apart from those that are always present", () => {
    expect(clientTypes(grown)[PYTHON]).to.include(
      'class StepSummaryRecord(_StepSummaryRecord, total=False):\n    """A step without its output, as in live events and in `currentStep`."""\n\n    #: The colour of the step.\n    colour: int\n',
    );
  });

  it("give a new field to openapi.json", () => {
    const schemas = new NamedSchemas();

    schemas.extract(Grown);

    expect(schemas.components.StepSummary).to.have.nested.property("properties.colour.type", "integer");
  });

  it("are the types that models return", () => {
    const same: [Same<Returned<typeof readStep>, SingleStep>, Same<Returned<typeof readJob>, JobRead>] = [true, true];

    expect(same).to.deep.equal([true, true]);
  });
});
