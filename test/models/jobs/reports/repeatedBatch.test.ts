import { expect } from "chai";
import sinon from "sinon";
import { startApp, type TestApp } from "../../../support/app.ts";
import { createJob, report } from "../../../support/factories.ts";

describe("a batch of reports", () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp();
  });
  afterEach(async () => {
    sinon.restore();
    await app.close();
  });

  it("is repeated one by one after a failure, also if its payloads were written before it", async () => {
    const { path } = await createJob(app);
    const write = app.stores.jobs.collection.bulkWrite.bind(app.stores.jobs.collection);
    const sizes: number[] = [];
    sinon.stub(app.stores.jobs.collection, "bulkWrite").callsFake((operations, options) => {
      sizes.push(operations.length);
      return operations.length > 1 ? Promise.reject(new Error("The batch failed.")) : write(operations, options);
    });
    const output = { text: "x".repeat(40_000) };

    await Promise.all(["a", "b", "c", "d", "e", "f"].map((key) => report(app, path, key, { output })));

    expect(Math.max(...sizes), "reports of a batch").to.be.at.least(2);
    const { body } = await app.call("GET", `${path}/steps/c`);
    expect(body.output).to.deep.equal(output);
  });
});
