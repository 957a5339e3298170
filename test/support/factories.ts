import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { Answer, TestApp } from "./app.ts";

/** Creates a job under a name of its own, with whatever else is given, and says its address. */
export async function createJob(app: TestApp, body: object = {}): Promise<{ jobId: string; path: string }> {
  const jobId = `job-${randomUUID()}`;
  const path = `/api/jobs/${jobId}`;
  const { status } = await app.call("PUT", path, body);
  expect(status).to.equal(201);
  return { jobId, path };
}

/** Sends a report that must be taken. */
export async function report(app: TestApp, jobPath: string, stepKey: string, body: object): Promise<Answer> {
  const answer = await app.call("PUT", `${jobPath}/steps/${stepKey}`, { stepName: stepKey, ...body });
  expect(answer.status, JSON.stringify(answer.body)).to.be.oneOf([200, 201]);
  return answer;
}

/** A report's range that covers the whole job, at a progress. */
export const whole = (progress: number) => ({ progress, jobProgressStart: 0, jobProgressEnd: 100 });
