import { ERRORS } from "../../src/shared/errorCatalogue.ts";
import { expectRecorded } from "./recorded.ts";

describe("the errors that clients see", () => {
  it("have the recorded codes, statuses and answers to whether a retry may help", () => {
    const errors = Object.entries(ERRORS).map(([code, { status, retry }]) => [code, { status, retryable: retry }]);

    expectRecorded("errors", Object.fromEntries(errors));
  });
});
