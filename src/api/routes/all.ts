import type { Config } from "../../config/config.ts";
import type { Mapping } from "../../hooks/mappings/mapping.ts";
import { postLineage } from "../receivers/lineage.ts";
import type { AnyRoute } from "../routing/route.ts";
import { auditRoutes } from "./audit.ts";
import { channelActionRoutes } from "./channels/actions.ts";
import { channelRoutes } from "./channels/channels.ts";
import { replyTargetRoutes } from "./channels/replyTarget.ts";
import { deliveryRoutes } from "./deliveries.ts";
import { eventRoutes } from "./events.ts";
import { gateRoutes } from "./gates.ts";
import { getHistory } from "./history.ts";
import { hookRequestRoutes } from "./hooks/hookRequests.ts";
import { hookRoutes } from "./hooks/hooks.ts";
import { mappedHookRoute, metaHandshakeRoute } from "./hooks/mappedHooks.ts";
import { testHookRoute } from "./hooks/testHook.ts";
import { cancellationRoutes } from "./jobs/jobCancellation.ts";
import { jobRoutes } from "./jobs/jobs.ts";
import { jobTokenRoutes } from "./jobs/jobTokens.ts";
import { pingRoutes } from "./jobs/ping.ts";
import { shareRoutes } from "./jobs/share.ts";
import { stepLogRoutes } from "./jobs/stepLog.ts";
import { stepRoutes } from "./jobs/steps.ts";
import { loginRoutes } from "./login.ts";
import { notifyRoutes } from "./notify.ts";
import { probeRoutes } from "./probes.ts";
import { getBudgets } from "./runs/budgets.ts";
import { runListRoutes } from "./runs/runLists.ts";
import { runRoutes } from "./runs/runs.ts";
import { sessionRoutes } from "./runs/sessions.ts";
import { settingsRoutes } from "./settings.ts";
import { getJobErrors, getJobHistory, getStats } from "./stats.ts";

/** Returns every route of the API. The first one that matches a request handles it. */
export function allRoutes(hooks: Config["hooks"], mappings: readonly Mapping[]): readonly AnyRoute[] {
  return [
    ...jobRoutes,
    ...cancellationRoutes,
    ...jobTokenRoutes,
    ...shareRoutes,
    ...stepRoutes,
    ...stepLogRoutes,
    ...pingRoutes,
    postLineage,
    ...gateRoutes,
    ...eventRoutes,
    getStats,
    getJobHistory,
    getJobErrors,
    getHistory,
    ...hookRoutes(hooks),
    // without a mapping too: the description is the same, and the answer is `hook_not_found`
    ...(hooks.enabled ? [mappedHookRoute(hooks, Math.max(0, ...mappings.map((one) => one.maxBodyBytes)))] : []),
    ...(hooks.enabled ? [testHookRoute] : []),
    ...(mappings.some(({ handshake }) => handshake === "meta") ? [metaHandshakeRoute(hooks, mappings)] : []),
    ...hookRequestRoutes(mappings),
    ...runListRoutes,
    getBudgets,
    ...runRoutes,
    ...replyTargetRoutes,
    ...sessionRoutes,
    ...deliveryRoutes,
    ...channelRoutes,
    ...channelActionRoutes,
    ...notifyRoutes,
    ...loginRoutes,
    ...probeRoutes,
    ...auditRoutes,
    ...settingsRoutes,
  ];
}
