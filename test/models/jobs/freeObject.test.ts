import { expect } from "chai";
import fc from "fast-check";
import { packObject, unpackObject } from "../../../src/models/jobs/freeObject.ts";

describe("free objects", () => {
  it("keep all their keys and values in storage", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const sent = JSON.stringify(value);
        const kept = unpackObject(packObject("input", JSON.parse(sent)));
        expect(JSON.stringify(kept)).to.equal(sent);
      }),
    );
  });

  it("are rejected if their JSON is larger than 5 MiB", () => {
    expect(() => packObject("output", { text: "x".repeat(5 * 1024 * 1024) }))
      .to.throw("output is larger than 5242880 bytes")
      .with.property("code", "body_too_large");
  });
});
