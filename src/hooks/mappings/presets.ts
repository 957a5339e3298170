import type { Config } from "../../config/config.ts";
import type { PRESETS } from "../../config/mappings/mapping.ts";
import { GMAIL_PRESET, GMAIL_SESSIONS } from "../../shared/sessionKey.ts";

type GmailConfig = NonNullable<Config["hooks"]["gmail"]>;
type MappingConfig = Config["hooks"]["mappings"][number];

const GMAIL: MappingConfig = {
  id: GMAIL_PRESET,
  match: { path: "gmail" },
  action: "agent",
  wakeMode: "now",
  name: "Gmail",
  forEach: "messages",
  sessionKey: `${GMAIL_SESSIONS}{{messages[0].id}}`,
  messageTemplate:
    "New mail from {{messages[0].from}}\nSubject: {{messages[0].subject}}\n{{messages[0].snippet}}\n{{messages[0].body}}",
  deliver: true,
  channel: "last",
  allowUnsafeExternalContent: false,
  maxBodyBytes: 8 * 1024 * 1024,
};

/** Returns a built-in mapping. It is matched after the operator's own mappings, which may use its name. */
export function preset(name: (typeof PRESETS)[number], hooks: Config["hooks"]): MappingConfig {
  const presets = { gmail: { ...GMAIL, ...gmailSettings(hooks.gmail) } };
  return presets[name];
}

const gmailSettings = ({ model, thinking, allowUnsafeExternalContent = false }: Partial<GmailConfig> = {}) => ({
  ...(model !== undefined && { model }),
  ...(thinking !== undefined && { thinking }),
  allowUnsafeExternalContent,
});
