import type { Example } from "./example.ts";

export const postLineage: Example = {
  body: {
    eventType: "START",
    eventTime: "2026-01-31T18:00:05.000Z",
    run: { runId: "0197f7a4-6a7c-7c39-8a53-1f0f3f6d2c11" },
    job: { namespace: "airflow", name: "orders" },
    producer: "https://github.com/apache/airflow",
    schemaURL: "https://openlineage.io/spec/2-0-2/OpenLineage.json#/definitions/RunEvent",
  },
  answers: { 201: "" },
};
