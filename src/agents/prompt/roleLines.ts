import { anyOf, BREAK, WIDE } from "./lookAlikes.ts";

const ODD = "\\u00a0{0,16}";
const START = "(?<=^|[\\n\\r])";

/** Signs and digits, however many: what decorates a role at the start of a line. Lazy, to spare the engine's stack. */
const signs = (except: string): string => `[^\\p{Lu}\\p{Ll}\\p{Lt}\\p{Lo}\\n\\r${BREAK}${WIDE}<${except}]*?`;

/** Decorations with letters: a tag, a letter of a list, a model's kind. */
const LETTERED = "(?:</?[a-z][^<>\\n\\r]{0,64}>|<(?![a-z/])|[a-z]\\)|gpt\\d[a-z]? (?:correct )?|ai )";

const before = (except = ""): string => `${signs(except)}(?:${LETTERED}${signs(except)}){0,3}?`;

/** A word that says what the role writes, and a remark in brackets. */
const REMARK =
  "(?: (?:prompt|message|instructions?|query|input|response|reply|turn))?(?: ?[([][^()[\\]\\n\\r]{0,64}[)\\]])?";

/** Between a role and its colon. Quotation marks end a key of JSON, or a word that is talked about. */
const AFTER = `${REMARK}${signs(":\"'«»")}(?:</[a-z0-9]{1,10}>${signs(":\"'«»")}){0,3}?(?=:(?!:|//))`;

const CHAT = anyOf("human assistant", ODD);
const COMMON = anyOf("system user developer tool ai bot model", ODD);

/** Role words that are broken in any case and any decoration. */
export const ROLE_LINE: RegExp = new RegExp(`${START}${before()}(?:${CHAT})${AFTER}`, "gu");

/** Role words that are also keys of YAML and names in code: `isRole` says which of them are broken. */
export const COMMON_ROLE_LINE: RegExp = new RegExp(`${START}${before()}(?:${COMMON})${AFTER}`, "gu");

/** A role in quotation marks, with words behind the colon and not the value of a key: `"System": obey`. */
export const QUOTED_ROLE_LINE: RegExp = new RegExp(
  `${START}${signs("\"'")}["'](?:${COMMON}|${CHAT})["'][ \\t]{0,16}(?=:[ \\t]{1,16}(?!true|false|null)\\p{L})`,
  "gu",
);

/** Sections of instruction formats: `### Instruction:`. */
export const SECTION_LINE: RegExp = new RegExp(
  `${START}${before("#")}#${before()}(?:instructions?|response|input|output|question|answer|prompt|query|context)${AFTER}`,
  "gu",
);

/** A heading of an instruction format without a colon, up to its word: `### Human` alone on a line. */
export const SECTION_HEADING: RegExp = new RegExp(
  `${START}[ \\t>]{0,16}###[ \\t]{0,16}(?=(?:human|assistant|system|user|instructions?|response|input)[ \\t*_]{0,16}(?:[\\n\\r]|$))`,
  "gu",
);

/** Whether a line is a turn's and no key: it has a capital letter, or stands at the margin with words behind its colon. */
export const isRole = (start: string, rest: string): boolean =>
  /[A-Z]/.test(start) || (/^[>#*_]{0,8} ?[a-z]/.test(start) && /^:[ \t\u00a0]+[^\s"'{[\d]/.test(rest));

const ROLES = `(${anyOf("system user assistant", "[ \\t\\u00a0_-]{0,16}")})`;

const END = "(?=[\\n\\r]|$)";
const IN_LINE = signs(":\"'{,");

/** What may stand behind a role that is alone on its line: signs and closing tags, but no colon or quotation mark of a key. */
const ALONE = `${IN_LINE}(?::[*_~=#\\])}-]${IN_LINE}|(?:</[a-z0-9]{1,10}>${IN_LINE}){1,3}?)?${END}`;

/** An underline makes a heading of a line with a colon too. */
const UNDERLINED = "[ \\t\\u00a0]{0,16}:[ \\t\\u00a0]{0,16}(?=[\\n\\r]{1,2}[ \\t\\u00a0]{0,16}(?:==|--))";

/**
 * Lines that read as a heading of the command runner's prompt, up to the role: behind `#` or a heading's tag, or alone on a
 * line (bold, underlined, in brackets). The role is the one group that matched.
 */
export const ROLE_HEADING: RegExp = new RegExp(
  [
    `${START}${before("#")}#${before()}${ROLES}(?!\\p{L})`,
    `${START}${signs("")}<h[1-6][^<>\\n\\r]{0,64}>${before()}${ROLES}(?!\\p{L})`,
    `${START}${before("\"'{")}${ROLES}(?=${ALONE}|${UNDERLINED})`,
  ].join("|"),
  "gu",
);
