import { readJob } from "../../../src/models/jobs/read/readJobs.ts";
import { openStores, type Stores } from "../../../src/models/stores.ts";
import { useSharedApp } from "../../support/useApp.ts";

/** Starts a service without jobs for each test. */
export function useReports() {
  const app = useSharedApp();
  beforeEach(() =>
    Promise.all([app.stores.jobs, app.stores.payloads].map(({ collection }) => collection.deleteMany({}))),
  );

  const openProcess = () => openStores(app.database, app.clock, { staleAfterSeconds: 900 });
  const codeOf = ({ code }: { code?: string }) => code;
  /** The fields that are compared with the model. */
  async function stored(stores: Stores, jobId: string) {
    const { status, progress, message, output, currentStep, steps } = await readJob(stores, jobId, { withSteps: true });
    const shown = (steps ?? []).map(({ stepKey, stepName, status, progress, message, output, attempts }) => ({
      stepKey,
      stepName,
      status,
      progress,
      message,
      output,
      attempts,
    }));
    return { status, progress, message, output, current: currentStep?.stepKey ?? null, steps: shown.sort(byKey) };
  }
  const byKey = (one: { stepKey: string }, other: { stepKey: string }) => (one.stepKey < other.stepKey ? -1 : 1);
  return { app, openProcess, codeOf, stored, byKey };
}
