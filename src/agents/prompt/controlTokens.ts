import { anyWordPattern, BREAK, wordPattern } from "./markerPattern.ts";

/*
 * Names that ordinary text has in brackets and that have the form of a control token. No tokenizer uses them. A name that is
 * missing here only adds an unnecessary sign to some text; it is no security gap.
 */

const list = (names: string): string => names.trim().split(/\s+/).join("|");

/** Words in square brackets: levels and marks in logs, subjects of mails, task lists, time zones; index names in code. */
const IN_SQUARE_BRACKETS: string = list(`
  ALERT CRIT CRITICAL DBG DEBUG EMERG EMERGENCY ERR ERROR FATAL FINE FINER FINEST INF INFO LOG NOTICE PANIC SEVERE TRACE
  VERBOSE WARN WARNING WRN MAIN ROOT STDERR STDOUT ABORTED BLOCKED CANCELED CANCELLED COMPLETE CREATED DELETED DONE DOWN DRAFT
  EXTERNAL EXT FAIL FAILED FAILURE FIX FIXED FIXME FLAKY HACK IGNORED INTERNAL MERGED NEW NOTE OPEN PASS PASSED PENDING
  REDACTED RELEASE RESOLVED REVIEW RFC RUNNING SECURITY SKIP SKIPPED SPAM STARTED STOPPED SUCCESS TBD TEST TODO UPDATE
  UPDATED URGENT WIP XXX BUG CET CEST EST GMT PST UTC API AWS CSS CSV CPU DNS GPU HTML HTTP HTTPS JSON LTS PDF SQL SSH SSL
  TLS TCP UDP GET POST PUT PATCH HEAD DELETE MIT NPM ESM README LICENSE URI URL UUID XML YAML IDX INDEX LEN MAX MIN NUM POS SIZE
`);

/** Elements of HTML in capitals (the token `<PRE>` excepted), and types and placeholders in angle brackets. */
const IN_ANGLE_BRACKETS: string = list(`
  ABBR ADDRESS AREA ARTICLE ASIDE AUDIO BASE BIG BLOCKQUOTE BODY BUTTON CANVAS CAPTION CENTER CITE CODE COL COLGROUP DATA DEL
  DETAILS DFN DIALOG DIV EMBED FIELDSET FIGCAPTION FIGURE FONT FOOTER FORM FRAME FRAMESET HEAD HEADER HGROUP HTML IFRAME IMG
  INPUT INS KBD LABEL LEGEND LINK MAIN MAP MARK MENU NAV NOFRAMES NOSCRIPT OBJECT OPTGROUP OPTION OUTPUT PARAM PICTURE
  PROGRESS SAMP SCRIPT SECTION SELECT SLOT SMALL SOURCE SPAN STRIKE STRONG STYLE SUB SUMMARY SUP SVG TABLE TBODY TEMPLATE
  TEXTAREA TFOOT THEAD TIME TITLE TRACK VAR VIDEO WBR API CSV DATE DTO FILE GUID HOST ISBN JSON NAME PATH PID PORT URI URL
  USER UTC UUID XML YAML
`);

/** Prefixes of XML's usual vocabularies, and schemes of addresses. */
const PREFIXES: string = list(`
  android app asp atom cac cbc content creativecommons cfdi cdf crs cs cv dc dcat dcterms doc ds dsig ec env ext feedburner fo foaf
  geo georss gml gco gmd gpx html itunes jsp kml ltx mathml media mml mods mtext ns ns0 ns1 ns2 ns3 ns4 odm office opensearch
  owl oai pkg pic podcast rdf rdfs rel rss rsm saml saml2 saml2p samlp sec sh skos slash soap soap12 soapenv spring sp ss
  svelte svg sitemap sy table tei text thr tns tools tp ubl udt ram ui url urn v8 video vt wp wsa wsdl wsse wsu wsp xenc xf
  xhtml xi xlink xlmns xml xs xsd xsi xsl xslt xul yt mailto tel sms sip sips xmpp magnet news cid mid data tag http
  https ftp file ssh git
`);

/** Types of programming languages that end in digits. */
const NUMBERED_TYPES: string = list(
  "base bfloat bool byte bytes char complex fixed float int ipv long sha simd uint utf vec",
);

/*
 * Each pattern consumes one character, the first of a chat control token; the break sign is inserted after it. The rest of
 * the token is only a lookahead, so that no token hides behind the start of another.
 */

/** A gap between the letters of a token: spaces and characters that join words. */
const GAP = "[ \\t\\u00a0_-]{0,16}";
/** A gap of unusual spaces, which a skeleton has as U+00A0. */
const ODD = "\\u00a0{0,16}";
const slash = (gap: string): string => `(?:${gap}/)?${gap}`;
const SOLID = `[^ \\t\\n\\r|<>${BREAK}]`;
/** The characters of a name that may have spaces. */
const SPACED = "[ \\p{L}\\p{N}_.:/\\u00a0-]";

/** Names between `<|` and `|>` that match with any spacing. Other names need the exact form: `f <| x |> g` is a program. */
const PIPED = anyWordPattern(
  `imstart imend imsep endoftext beginoftext startoftext system user assistant human developer tool end start message
   channel return call constrain startheaderid endheaderid eotid eomid pythontag endofturn startofturn beginofsentence
   endofsentence fimprefix fimsuffix fimmiddle`,
  GAP,
);

/**
 * Names between `<` and `>`, optionally with `/`, a prefix and attributes: tags of chat formats, and tags in which agent
 * programs (Claude Code and others) write reminders and the output of commands into the conversation.
 */
const TAGGED = anyWordPattern(
  `system assistant user human developer tool function toolcall toolcalls toolresult toolresponse tooloutput tools
   functioncall functioncalls functionresult functionresults functionresponse invoke parameter think thinking thought
   reasoning reflection scratchpad observation startofturn endofturn startofimage endofimage startofrole endofrole
   imstart imend imsep startheaderid endheaderid fimprefix fimsuffix fimmiddle fimhole
   role results instructions systemprompt untrustedcontent
   systemreminder systemreminders reminder reminders systemmessage systemnote systemnotice systemwarning
   commandname commandmessage commandargs commandcontents localcommandstdout localcommandstderr localcommandcaveat
   bashinput bashstdout bashstderr usermemoryinput tasknotification newdiagnostics`,
  GAP,
);

/** Parts of longer names, as in `<system-reminder>` and `<x-tool-result>`. */
const PART =
  "system|assistant|human|developer|tools?|functions?|think(?:ing)?|instructions?|prompt|reminders?|global-img";

/** Names too short or too common for gaps: `a < s > b` is arithmetic. */
const SHORT = anyWordPattern(
  `s bos eos pad unk sop eop sot sos eot eom eoh eoa eod eou cls sep mask 2mass filename filepath reponame escape turn bot
   chatbot unused reserved box quad 用户 助手 系统`,
  ODD,
);

const BRACKETED = anyWordPattern(
  `inst systemprompt availabletools toolcalls toolresults toolcontent gmask smask sop startheaderid endheaderid multimodal
   startofturn endofturn endoftext imstart imend systemreminder systemmessage systemnote systemnotice`,
  GAP,
);

const LOWER_CASE = [
  // Two bars or one: `<|name|>`, `<|name>`, `<name|>`, `<|name|name …>`.
  `[<«](?=${ODD}/?\\|{1,3}${SOLID}{1,64}(?:\\|{0,3}${ODD}[>»]|\\|[\\p{L}_]))`,
  `[<«](?=${ODD}\\|{1,3}[\\p{L}\\p{N}_/]${SPACED}{0,62}[\\p{L}\\p{N}_]\\|{0,3}${ODD}[>»])`,
  `[<«](?=${ODD}[\\p{L}\\p{N}_"'/]${SOLID}{0,63}\\|{1,3}${ODD}[>»])`,
  `[<«](?=${ODD}[\\p{L}_]${SPACED}{0,62}[\\p{L}\\p{N}_]\\|{1,3}${ODD}[>»])`,
  `[<«](?=${GAP}\\|${GAP}(?:${PIPED})${GAP}\\|${GAP}[>»])`,
  // A bracket with a bar: `[|name|]`.
  `[[{](?=${ODD}\\|{1,3}[\\p{L}_/](?:${SPACED}{0,62}[\\p{L}\\p{N}_])?\\|{1,3}${ODD}[\\]}])`,
  `[[({](?=${GAP}\\|${GAP}(?:${PIPED})${GAP}\\|${GAP}[\\])}])`,
  "\\[(?=(?:\\|[a-z][a-z_]{2,32}|[a-z][a-z_]{2,32}\\|)\\])",
  // Tags by their name, by a part of it, or by the `_` (also in front), the prefix or the `=` in it.
  `<(?=${slash(ODD)}(?:\\|?[a-z][a-z0-9_-]{0,31}[:|])?(?:${TAGGED})(?:[\\s/>]|$))`,
  `<(?=${slash(GAP)}(?:${TAGGED})${slash(GAP)}>)`,
  `<(?=${slash(ODD)}(?:[a-z0-9]{1,16}[-.]){0,3}(?:${PART})(?:[-.][a-z0-9]{1,16}){0,3}(?:[\\s/>]|$))`,
  `<(?=${slash(ODD)}\\p{L}[\\p{L}\\p{N}-]{0,31}_[\\p{L}\\p{N}_-]{0,62}(?<!_t|_type|_types|_ptr|_iterator)${slash(ODD)}>)`,
  `<(?=${slash(ODD)}(?!(?:${PREFIXES}):)[a-z][a-z0-9_-]{1,31}:(?:[^\\s/:${BREAK}]| \\d))`,
  `<(?=${slash(ODD)}_{1,2}\\p{L}[\\p{L}\\p{N}_-]{2,62}${slash(ODD)}>)`,
  `<(?=${slash(ODD)}dsml:)`,
  `<(?=${slash(ODD)}[a-z][a-z0-9_.-]{0,31}=[^=\\s>${BREAK}])`,
  `<(?=${slash(ODD)}(?:begin|start|end)(?:ning)?of[a-z]{2,32}>)`,
  `<(?=${slash(ODD)}(?:[a-z][a-z0-9_-]{0,31}:)?(?:${SHORT})${slash(ODD)}>)`,
  "<(?=(?:image|video|audio|speech)>)",
  `[<«](?=${slash(GAP)}${wordPattern("sys", GAP)}${GAP}[>»])`,
  // Tags whose name is enclosed in other signs: `<[name]>` by its form, others by name.
  `<(?=${slash(ODD)}\\[[\\p{L}_/](?:${SPACED}{0,62}[\\p{L}\\p{N}_])?\\]>)`,
  `<(?=[#$%&*+.:;=?@^~!]{1,2}[\\p{L}_]${SPACED}{0,62}[#$%&*+.:;=?@^~!]{1,2}>)`,
  `[<«](?=[!#$%&*+.:;=?@^~({-]{1,3}(?:${PIPED}|${TAGGED}|sys)[!#$%&*+.:;=?@^~)}/-]{0,3}[>»])`,
  // Square brackets: known names, numbered ones, and the tildes of `]~b]`, `[e~[`, `]~!b[`, `]<]image[>[`.
  `\\[(?=${slash(GAP)}(?:${BRACKETED})${GAP}\\])`,
  `\\[(?=${ODD}(?:unused|control|extra_id|reserved|special|token|placeholder)[a-z_ -]{0,16}\\d{1,5}${ODD}\\])`,
  `\\[(?=${ODD}round[ \\u00a0_-]{0,4}\\d{1,5}${ODD}\\])`,
  "\\[(?=(?:system|user|assistant)\\]\\(#|/(?:system|user|assistant|human)\\])",
  "[[\\]](?=(?:!?~!?[a-z]{1,8}[!~]{0,2}|!?[a-z]{1,8}!?~!?)[[\\]])",
  "\\](?=<\\][\\p{L}\\p{N} _-]{1,32}\\[>\\[)",
];

const CAPITALS = [
  `<(?=${slash(ODD)}(?!(?:${IN_ANGLE_BRACKETS})\\b)[A-Z][A-Z0-9_.-]{1,62}[A-Z0-9]${slash(ODD)}>)`,
  `<(?=${slash(ODD)}(?:AI|(?!(?:${NUMBERED_TYPES})\\d)[a-z]{3,16}\\d{1,5}|[A-Z]{3,16}\\d{1,5})${slash(ODD)}>)`,
  `\\[(?=${slash(ODD)}(?!(?:${IN_SQUARE_BRACKETS}|RFC\\d+)\\])@?[a-z]?[A-Z][A-Z0-9_]{1,62}[A-Z0-9]@?${ODD}\\])`,
  ">(?=>[A-Z][A-Z0-9_]{1,32}[A-Z0-9]<<)",
  "\\|(?=\\|\\|[A-Z][A-Z_]{1,32}[A-Z]\\|\\|\\|)",
  "\\|(?=(?:ENDOFTEXT|SPEAKER|NEWLINE)\\|)",
];

/** Matches chat control tokens by their form, in a skeleton in lower case. */
export const TOKEN: RegExp = new RegExp(LOWER_CASE.join("|"), "gu");

/** Matches control tokens that only capitals distinguish from ordinary words, in a skeleton that keeps its case. */
export const CAPITAL_TOKEN: RegExp = new RegExp(CAPITALS.join("|"), "gu");

/** Matches a word in capitals between full-width bars, in the original text: other bars belong to tables. */
export const FULL_WIDTH_TOKEN: RegExp = /｜(?=[A-Z_▁]{3,32}｜)/gu;
