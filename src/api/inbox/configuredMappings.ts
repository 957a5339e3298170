import type { Config } from "../../config/config.ts";
import { mappingKey } from "../../config/mappings/mapping.ts";
import { preset } from "../../hooks/mappings/presets.ts";
import type { ConfiguredMapping } from "../../wire/settings.ts";
import type { ApiDeps } from "../deps.ts";

type MappingConfig = Config["hooks"]["mappings"][number];

/** A mapping as the configuration shows it, with the name of the hook in its address. */
export interface ShownMapping extends ConfiguredMapping {
  readonly hook: string | null;
}

/** Returns the mappings as the configuration shows them, so that a secret in a variable stays hidden. */
export function configuredMappings({
  hooks,
  shownConfig,
  hooksUrl,
}: Pick<ApiDeps, "hooks" | "shownConfig" | "hooksUrl">): ShownMapping[] {
  const own = (shownConfig as { hooks: { mappings: readonly MappingConfig[] } }).hooks.mappings;
  const builtIn = hooks.presets.map((name) => ({ ...preset(name, hooks), preset: name }));
  return [...own, ...builtIn].map((mapping) => ({
    mapping: mappingKey(mapping as MappingConfig),
    preset: mapping.preset ?? null,
    action: mapping.action,
    hook: mapping.match?.path ?? null,
    address: hooks.enabled && mapping.match?.path !== undefined ? `${hooksUrl}/${mapping.match.path}` : null,
    source: mapping.match?.source ?? null,
    when: mapping.match?.when ?? null,
    sessionKey: mapping.sessionKey ?? null,
  }));
}
