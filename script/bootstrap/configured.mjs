import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";

/**
 * Whether the user has configured an own server in the environment, in .env or in the configuration file. The
 * service validates the value; here only its presence matters.
 * @param {Pick<import("./steps.mjs").Context, "root" | "installed">} context
 * @param {string} variable
 * @param {string} section
 * @param {string} key
 */
export async function isConfigured({ root, installed }, variable, section, key) {
  const env = { ...parseEnv(read(join(root, ".env")) ?? ""), ...process.env };
  if (env[variable]) return true;
  const text = read(resolve(root, env.SIGNALBOX_CONFIG || "signalbox.json5"));
  if (text === undefined) return false;
  await installed;
  const { default: json5 } = await import("json5");
  try {
    return Boolean(json5.parse(text)?.[section]?.[key]);
  } catch {
    return false; // The service reports the error in the file.
  }
}

/** @param {string} path */
function read(path) {
  try {
    const bytes = readFileSync(path);
    const utf16 = { fffe: "utf-16le", feff: "utf-16be" }[bytes.toString("hex", 0, 2)];
    return new TextDecoder(utf16).decode(bytes); // leaves out the byte order mark
  } catch {
    return undefined;
  }
}
