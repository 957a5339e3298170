import { expect } from "chai";
import { AppError } from "../../src/shared/errors.ts";
import { serializeError } from "../../src/shared/logger.ts";

describe("serializeError", () => {
  it("returns name, message, code, stack and cause, without the properties that libraries add", () => {
    const refused = Object.assign(new Error("Document failed validation"), {
      code: 121,
      writeErrors: [{ err: { op: { request: { message: "s3cret" } } } }],
      command: { name: "hello", args: ["AUTH", "s3cret"] },
    });

    const serialized = serializeError(new AppError("internal", { detail: "It broke.", cause: refused })) as {
      cause: object;
    };

    expect(serialized).to.include({ type: "AppError", message: "It broke.", code: "internal" });
    expect(serialized.cause).to.include({ type: "Error", message: "Document failed validation", code: 121 });
    expect(JSON.stringify(serialized)).to.not.include("s3cret");
  });

  it("returns the type of a value that is not an error", () => {
    expect(serializeError("s3cret")).to.deep.equal({ type: "string" });
  });
});
