import type { Mapping } from "../../hooks/mappings/mapping.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import type { AnyRoute } from "../route.ts";
import { auditRoutes } from "./audit.ts";
import { channelActionRoutes } from "./channels/actions.ts";
import { channelRoutes } from "./channels/channels.ts";
import { replyTargetRoutes } from "./channels/replyTarget.ts";
import { deliveryRoutes } from "./deliveries.ts";
import { eventRoutes } from "./events.ts";
import { gateRoutes } from "./gates.ts";
import { hookRequestRoutes } from "./hookRequests.ts";
import { hookRoutes } from "./hooks.ts";
import { cancellationRoutes } from "./jobCancellation.ts";
import { jobRoutes } from "./jobs.ts";
import { jobTokenRoutes } from "./jobTokens.ts";
import { loginRoutes } from "./login.ts";
import { mappedHookRoute, metaHandshakeRoute } from "./mappedHooks.ts";
import { notifyRoutes } from "./notify.ts";
import { pingRoutes } from "./ping.ts";
import { probeRoutes } from "./probes.ts";
import { runListRoutes } from "./runLists.ts";
import { runRoutes } from "./runs.ts";
import { sessionRoutes } from "./sessions.ts";
import { settingsRoutes } from "./settings.ts";
import { getJobHistory, getStats } from "./stats.ts";
import { stepRoutes } from "./steps.ts";
import { testHookRoute } from "./testHook.ts";

/** Returns every route of the API. The first one that matches a request handles it. */
export function allRoutes(hooks: Config["hooks"], mappings: readonly Mapping[]): readonly AnyRoute[] {
  return [
    ...jobRoutes,
    ...cancellationRoutes,
    ...jobTokenRoutes,
    ...stepRoutes,
    ...pingRoutes,
    ...gateRoutes,
    ...eventRoutes,
    getStats,
    getJobHistory,
    ...hookRoutes(hooks),
    // without a mapping too: the description is the same, and the answer is `hook_not_found`
    ...(hooks.enabled ? [mappedHookRoute(hooks, Math.max(0, ...mappings.map((one) => one.maxBodyBytes)))] : []),
    ...(hooks.enabled ? [testHookRoute] : []),
    ...(mappings.some(({ handshake }) => handshake === "meta") ? [metaHandshakeRoute(hooks, mappings)] : []),
    ...hookRequestRoutes(mappings),
    ...runListRoutes,
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
