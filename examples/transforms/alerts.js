/**
 * @typedef {object} Notification What is read of it: https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
 * @property {{ status: "firing" | "resolved", labels: Record<string, string>, annotations: Record<string, string> }[]} alerts
 */

/**
 * Alerts of Prometheus' Alertmanager wake the main session: at once when one of them is critical, else with the next
 * heartbeat. A notification in which nothing fires any more is dropped.
 * @type {import("signalbox/transform").Transform<Notification>}
 */
export const alerts = ({ payload }) => {
  const firing = payload.alerts.filter(({ status }) => status === "firing");
  if (firing.length === 0) return null;
  const lines = firing.map(({ labels, annotations }) => `${labels.alertname}: ${annotations.summary ?? "no summary"}`);
  const critical = firing.some(({ labels }) => labels.severity === "critical");
  return { kind: "wake", text: lines.join("\n"), mode: critical ? "now" : "next-heartbeat" };
};
