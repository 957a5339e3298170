import type { Call, CallOptions } from "../api.ts";

export interface ConfiguredMapping {
  mapping: string;
  preset: string | null;
  action: "agent" | "wake";
  /** A path if the service does not know its public address; null if the mapping has no address of its own. */
  address: string | null;
  source: string | null;
  when: Record<string, unknown> | null;
  sessionKey: string | null;
}

/** The settings of the service: see `GET /api/settings`. */
export interface Settings {
  versions: { signalbox: string; node: string; mongodb: string | null; redis: string | null; warning: string | null };
  health: { checks: { name: string; ok: boolean }[]; workers: number | null };
  mappings: ConfiguredMapping[];
  rules: string[];
  config: Record<string, unknown>;
}

/** Reads the settings, for the page: it is not part of the client. */
export const readSettings = (call: Call, options?: CallOptions) => call<Settings>("GET", "/api/settings", options);
