import { resolveModel } from "../formats/modelList.ts";
import { recipientFault } from "../formats/recipient.ts";
import { publicKeyOf } from "../formats/senderKeys.ts";
import { GMAIL_SESSIONS, sessionKeyFault } from "../formats/sessionKey.ts";
import { parseTemplate, type Template, TemplateError } from "../formats/template.ts";
import { resolveTransform } from "../formats/transformPath.ts";
import type { Config } from "../schema/config.ts";
import type { MappingConfig } from "../schema/mapping.ts";
import { idleMappingOptions } from "./idleOptions.ts";
import { requestFaults } from "./requests.ts";
import { senderSecretFault } from "./secretTexts.ts";

type Mapping = Config["hooks"]["mappings"][number];
type Auth = NonNullable<Mapping["auth"]>;

/** The keys of a mapping that contain a template. */
export const TEMPLATES = [
  "name",
  "sessionKey",
  "messageTemplate",
  "textTemplate",
  "to",
] as const satisfies readonly (keyof MappingConfig)[];

/** Returns the name of a mapping in logs, metrics and records. */
export const mappingKey = ({ id, match }: Mapping): string =>
  id ?? ([match?.path, match?.source].filter((part) => part !== undefined).join(":") || "*");

/** The hooks that are not mappings. */
export const BUILT_IN_HOOKS: readonly string[] = ["wake", "agent"];

/** The templates that must not be blank without a transform, because nothing else provides their text. */
const NOT_BLANK: readonly string[] = ["messageTemplate", "textTemplate"];

const HMAC_KEYS = ["header", "algorithm", "encoding", "prefix", "timestampHeader"] as const;
const NEEDED: Readonly<Record<Auth["type"], readonly (keyof Auth)[]>> = {
  token: ["token"],
  github: ["secret"],
  stripe: ["secret"],
  slack: ["secret"],
  "standard-webhooks": ["secret"],
  hmac: ["secret", "header"],
  sendgrid: ["publicKey"],
  sns: ["topicArns"],
};
const ALLOWED: Readonly<Record<Auth["type"], readonly (keyof Auth)[]>> = {
  token: ["token", "shared", "header"],
  github: ["secret", "shared"],
  stripe: ["secret", "shared", "toleranceSeconds"],
  slack: ["secret", "shared", "toleranceSeconds"],
  "standard-webhooks": ["secret", "shared", "toleranceSeconds"],
  hmac: ["secret", "shared", "toleranceSeconds", ...HMAC_KEYS],
  sendgrid: ["publicKey", "toleranceSeconds"],
  sns: ["topicArns", "toleranceSeconds"],
};

/** Returns the name of a hook as it is compared: percent-decoded, or unchanged when it cannot be decoded. */
export function decodedName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/** Returns a sentence, beginning with the key, for each fault in the mappings that the schema does not find. */
export function mappingFaults(config: Config): string[] {
  const { mappings } = config.hooks;
  const names = mappings.map(mappingKey);
  return mappings.flatMap((mapping, i) => {
    const key = `hooks.mappings.${i}`;
    const name = names[i] as string;
    const twin = names.indexOf(name);
    return [
      ...templateFaults(mapping),
      mapping.match?.path !== undefined && pathFault(mapping.match.path),
      name.startsWith("preset:") && `id must not be ${name}: names that begin with preset: belong to the presets`,
      twin < i &&
        (mapping.id === undefined
          ? `id is missing: without it, this mapping and hooks.mappings.${twin} have the same name, ${name}`
          : `id is used twice: hooks.mappings.${twin} has the name ${name} too`),
      recipientFaultOf(mapping),
      modelFault(mapping, config),
      transformFault(mapping, config),
      ...sessionKeyFaults(mapping, config),
      ...authFaults(mapping),
      ...requestFaults(mapping),
      ...idleMappingOptions(mapping),
    ].flatMap((fault) => (typeof fault === "string" ? [`${key}.${fault}`] : []));
  });
}

function pathFault(path: string): string | false {
  if (BUILT_IN_HOOKS.includes(path))
    return `match.path must not be ${path}: choose another name, because this is a built-in hook`;
  if (path.split("/").some((segment) => segment === "." || segment === "..")) {
    return "match.path must have no segment . or ..: no request arrives with one";
  }
  const decoded = decodedName(path);
  return (
    decoded !== path &&
    `match.path must be written without percent-encoding (${decoded}): names are compared after decoding`
  );
}

function templateFaults(mapping: Mapping): string[] {
  return TEMPLATES.flatMap((key) => {
    const text = mapping[key];
    if (text === undefined) return [];
    const parsed = parsedOrFault(text);
    if (typeof parsed === "string") return [`${key}: ${parsed}`];
    return NOT_BLANK.includes(key) && !mapping.transform && isBlank(parsed) ? [`${key} must not be blank`] : [];
  });
}

const isBlank = (template: Template) => template.every((part) => typeof part === "string" && part.trim() === "");

function parsedOrFault(text: string): Template | string {
  try {
    return parseTemplate(text);
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

/** Checks a recipient without a template. One with a template is known when its values are. */
function recipientFaultOf({ channel, to = "" }: Mapping): string | false | undefined {
  const parsed = parsedOrFault(to);
  if (channel === "last" || typeof parsed === "string" || isBlank(parsed)) return false;
  const fault = parsed.every((part) => typeof part === "string") && recipientFault(channel, parsed.join(""));
  return fault && `to ${fault}`;
}

function modelFault({ model }: Mapping, { agents }: Config): string | false {
  const resolved = resolveModel(agents.defaults, model);
  return !resolved.ok && model !== undefined && `model must be one of ${resolved.allowed.join(", ")}`;
}

function transformFault({ transform }: Mapping, { hooks }: Config): string | false {
  if (!transform || hooks.transformsDir === undefined) return false;
  const resolved = resolveTransform(hooks.transformsDir, transform.module);
  return !resolved.ok && `transform.module: ${resolved.reason}`;
}

/** Checks the text before the first value of a template. The complete key is checked when its values are known. */
function sessionKeyFaults({ sessionKey }: Mapping, { hooks }: Config): (string | false)[] {
  const parsed = sessionKey === undefined ? [] : parsedOrFault(sessionKey);
  const [first, second] = typeof parsed === "string" ? [] : parsed;
  if (typeof first !== "string") return [];
  const prefixes = hooks.allowedSessionKeyPrefixes;
  if (first.startsWith(GMAIL_SESSIONS)) return [`sessionKey ${sessionKeyFault(first, prefixes)}`];
  const fault =
    second === undefined || !prefixes?.some((prefix) => prefix.startsWith(first))
      ? sessionKeyFault(first, prefixes)
      : null;
  return [fault !== null && (second === undefined || prefixes !== undefined) && `sessionKey ${fault}`];
}

function authFaults({ auth, match }: Mapping): (string | false)[] {
  if (!auth) return [];
  const given = Object.keys(auth).filter((key) => key !== "type") as (keyof Auth)[];
  return [
    match?.path === undefined && "auth needs match.path: add the name under which this sender calls",
    ...NEEDED[auth.type].map((key) => auth[key] === undefined && `auth.${key} is missing: type ${auth.type} needs it`),
    ...given.map(
      (key) => !ALLOWED[auth.type].includes(key) && `auth.${key} has no effect with type ${auth.type}: remove it`,
    ),
    auth.type === "hmac" &&
      auth.toleranceSeconds !== undefined &&
      auth.timestampHeader === undefined &&
      "auth.toleranceSeconds has no effect without auth.timestampHeader: add that, or remove it",
    secretFault(auth),
    auth.publicKey !== undefined &&
      !isEcKey(auth.publicKey) &&
      "auth.publicKey must be the verification key of SendGrid's signed event webhook: base64 without line breaks",
  ];
}

function isEcKey(text: string): boolean {
  try {
    return publicKeyOf(text).asymmetricKeyType === "ec";
  } catch {
    return false;
  }
}

function secretFault({ type, secret }: Auth): string | false {
  const fault = secret === undefined ? null : senderSecretFault(type, secret);
  return fault !== null && `auth.secret ${fault}`;
}
