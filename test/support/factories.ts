import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { AgentRequest } from "../../src/models/runs/run.ts";
import type { Answer, TestApp } from "./app.ts";

/** Creates a job with a unique id and the given fields, and returns its id and path. */
export async function createJob(app: TestApp, body: object = {}): Promise<{ jobId: string; path: string }> {
  const jobId = `job-${randomUUID()}`;
  const path = `/api/jobs/${jobId}`;
  const { status } = await app.call("PUT", path, body);
  expect(status).to.equal(201);
  return { jobId, path };
}

/** Sends a report that must be accepted. */
export async function report(app: TestApp, jobPath: string, stepKey: string, body: object): Promise<Answer> {
  const answer = await app.call("PUT", `${jobPath}/steps/${stepKey}`, { stepName: stepKey, ...body });
  expect(answer.status, JSON.stringify(answer.body)).to.be.oneOf([200, 201]);
  return answer;
}

/** Returns a report's range that covers the whole job, and its progress. */
export const whole = (progress: number) => ({ progress, jobProgressStart: 0, jobProgressEnd: 100 });

/** A request for an agent's run, for tests that insert runs directly. */
export const agentRequest: AgentRequest = {
  message: "x",
  wakeMode: "next-heartbeat",
  deliver: false,
  channel: "last",
  to: null,
  model: null,
  thinking: null,
  timeoutSeconds: 60,
  trackAsJob: false,
};

/** Inserts a queued run and returns its id. */
export async function acceptRun({ stores }: TestApp, sessionKey: string, singleUse = false): Promise<string> {
  const _id = randomUUID();
  const request = agentRequest;
  await stores.runs.accept([{ _id, name: null, sessionKey, singleUse, request, kind: "agent", mapped: null }]);
  return _id;
}
