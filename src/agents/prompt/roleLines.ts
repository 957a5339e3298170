import { anyWordPattern, BREAK, SUPPLEMENTARY } from "./markerPattern.ts";

/*
 * Each pattern begins at the start of a line. `neutralize` and `breakRoleHeadings` insert their sign
 *
 *     before the colon, at the end of the match    ROLE_LINE, COMMON_ROLE_LINE, QUOTED_ROLE_LINE, SECTION_LINE
 *     before the word, at the end of the match     SECTION_HEADING: `### ※Human`
 *     before the role that ends the match          ROLE_HEADING: `# ※System`
 *
 * `> **System (note)**: obey` becomes `> **System (note)**※: obey`. The parts of this match are
 *
 *     "> **"         decoration()
 *     "System"       COMMON
 *     " (note)**"    AFTER, which also looks ahead at the colon
 */

/** Unusual spaces between the letters of a role, which the skeleton of a text shows as U+00A0. */
const GAP = "\\u00a0{0,16}";
const START = "(?<=^|[\\n\\r])";

/** Any number of signs and digits, which may decorate a role at the start of a line. Lazy, to limit the engine's stack. */
const signs = (except: string): string => `[^\\p{Lu}\\p{Ll}\\p{Lt}\\p{Lo}\\n\\r${BREAK}${SUPPLEMENTARY}<${except}]*?`;

/** Decorations that `signs` does not match: a tag, a `<` that begins none, a letter of a list, a model's kind. */
const LETTERED = "(?:</?[a-z][^<>\\n\\r]{0,64}>|<(?![a-z/])|[a-z]\\)|gpt\\d[a-z]? (?:correct )?|ai )";

const decoration = (except = ""): string => `${signs(except)}(?:${LETTERED}${signs(except)}){0,3}?`;

/** A word for the kind of the role's text, and a remark in brackets. */
const REMARK =
  "(?: (?:prompt|message|instructions?|query|input|response|reply|turn|reminder|note|notice|override|directives?|commands?))?(?: ?[([][^()[\\]\\n\\r]{0,64}[)\\]])?";

/** The part between a role and its colon. It has no quotation marks: these end a key of JSON, or a quoted word. */
const AFTER = `${REMARK}${signs(":\"'«»")}(?:</[a-z0-9]{1,10}>${signs(":\"'«»")}){0,3}?(?=:(?!:|//))`;

const CHAT = anyWordPattern("human assistant", GAP);
/** Role words, also those of Chinese chat formats: system, user, assistant, question and answer. A skeleton has no accents. */
const COMMON = anyWordPattern(
  "system systeme sistema user developer tool ai bot model 系统 系統 用户 用戶 助手 问 問 答",
  GAP,
);

/** Role words that are broken up in upper and lower case and in any decoration. */
export const ROLE_LINE: RegExp = new RegExp(`${START}${decoration()}(?:${CHAT})${AFTER}`, "gu");

/** Role words that are also keys of YAML and names in code. `neutralize` decides which of these matches are broken up. */
export const COMMON_ROLE_LINE: RegExp = new RegExp(`${START}${decoration()}(?:${COMMON})${AFTER}`, "gu");

/** A role in quotation marks, with words after the colon and not the value of a key: `"System": obey`. */
export const QUOTED_ROLE_LINE: RegExp = new RegExp(
  `${START}${signs("\"'")}["'](?:${COMMON}|${CHAT})["'][ \\t]{0,16}(?=:[ \\t]{1,16}(?!true|false|null)\\p{L})`,
  "gu",
);

/** A section of an instruction format: `### Instruction:`. */
export const SECTION_LINE: RegExp = new RegExp(
  `${START}${decoration("#")}#${decoration()}(?:instructions?|response|input|output|question|answer|prompt|query|context)${AFTER}`,
  "gu",
);

/** A heading of an instruction format without a colon, up to its word: `### Human` alone on a line. */
export const SECTION_HEADING: RegExp = new RegExp(
  `${START}[ \\t>]{0,16}###[ \\t]{0,16}(?=(?:human|assistant|system|user|instructions?|response|input)[ \\t*_]{0,16}(?:[\\n\\r]|$))`,
  "gu",
);

const ROLES = `(${anyWordPattern("system user assistant", "[ \\t\\u00a0_-]{0,16}")})`;

const END = "(?=[\\n\\r]|$)";
/** Signs of a line that hold no colon, and no quotation mark, brace or comma of JSON. */
const IN_LINE = signs(":\"'{,");

/** The rest of a line that has only a role: signs and closing tags, but no colon or quotation mark of a key. */
const ALONE = `${IN_LINE}(?::[*_~=#\\])}-]${IN_LINE}|(?:</[a-z0-9]{1,10}>${IN_LINE}){1,3}?)?${END}`;

/** A colon followed by an underline in the next line, which also makes a heading. */
const UNDERLINED = "[ \\t\\u00a0]{0,16}:[ \\t\\u00a0]{0,16}(?=[\\n\\r]{1,2}[ \\t\\u00a0]{0,16}(?:==|--))";

/**
 * Matches lines that read as a heading of the command runner's prompt, up to and including the role: after `#` or a heading's tag, or alone
 * on a line (bold, underlined, in brackets). The role is the one group that matched.
 */
export const ROLE_HEADING: RegExp = new RegExp(
  [
    `${START}${decoration("#")}#${decoration()}${ROLES}(?!\\p{L})`,
    `${START}${signs("")}<h[1-6][^<>\\n\\r]{0,64}>${decoration()}${ROLES}(?!\\p{L})`,
    `${START}${decoration("\"'{")}${ROLES}(?=${ALONE}|${UNDERLINED})`,
  ].join("|"),
  "gu",
);
