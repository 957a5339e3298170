import { expect } from "chai";
import { Type } from "typebox";
import { compileBody } from "../../../src/api/routing/validate.ts";

describe("the check of a schema", () => {
  it("is compiled once for equal schemas, which each reload of the configuration makes anew", () => {
    const schema = (maxLength: number) => Type.Object({ name: Type.String({ maxLength }) });

    const [first, equal, other] = [compileBody(schema(3)), compileBody(schema(3)), compileBody(schema(4))];

    expect(first).to.equal(equal);
    expect([first({ name: "long" }), other({ name: "long" })]).to.deep.equal([false, true]);
  });
});
