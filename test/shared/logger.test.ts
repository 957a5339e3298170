import { expect } from "chai";
import { AppError } from "../../src/shared/errors.ts";
import { serializeError } from "../../src/shared/logger.ts";

describe("what is logged of an error", () => {
  it("is its name, message, code, stack and cause; nothing that a library hangs on it", () => {
    const refused = Object.assign(new Error("Document failed validation"), {
      code: 121,
      writeErrors: [{ err: { op: { request: { message: "s3cret" } } } }],
      command: { name: "hello", args: ["AUTH", "s3cret"] },
    });

    const told = serializeError(new AppError("internal", { detail: "It broke.", cause: refused })) as { cause: object };

    expect(told).to.include({ type: "AppError", message: "It broke.", code: "internal" });
    expect(told.cause).to.include({ type: "Error", message: "Document failed validation", code: 121 });
    expect(JSON.stringify(told)).to.not.include("s3cret");
  });

  it("is the type of what is no error", () => {
    expect(serializeError("s3cret")).to.deep.equal({ type: "string" });
  });
});
