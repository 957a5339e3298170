/**
 * @typedef {object} Notification The fields that are used:
 *   https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
 * @property {{ status: "firing" | "resolved", labels: Record<string, string>, annotations: Record<string, string> }[]}
 *   alerts
 */

/**
 * Wakes the main session for alerts of Prometheus' Alertmanager: at once if one of them is critical, else with the next
 * heartbeat. Drops a notification without firing alerts.
 * @type {import("signalbox/transform").Transform<Notification>}
 */
export const alerts = ({ payload }) => {
  const firing = payload.alerts.filter(({ status }) => status === "firing");
  if (firing.length === 0) return null;
  const lines = firing.map(({ labels, annotations }) => `${labels.alertname}: ${annotations.summary ?? "no summary"}`);
  const critical = firing.some(({ labels }) => labels.severity === "critical");
  return { kind: "wake", text: lines.join("\n"), mode: critical ? "now" : "next-heartbeat" };
};
