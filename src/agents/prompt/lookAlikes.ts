/** The sign that breaks a look-alike: plain to see, and like no letter, bracket or bar, in no Unicode form. */
export const BREAK = "※";

/** The words of the boundary markers. Only the id makes a marker valid: a text with the words is a look-alike. */
export const MARKER_WORDS = { begin: "BEGIN_UNTRUSTED_CONTENT", end: "END_UNTRUSTED_CONTENT" } as const;

/*
 * The patterns run over a folded text (fold.ts). They take linear time because each begins at a fixed character or at the
 * start of a line, a gap never holds the character behind it, and two gaps never touch: there is one way to match.
 * Greedy gaps are bounded to spare the engine's stack; what cannot be seen is gone before and does not count.
 */

/** Digits that pass for letters, and letters that pass for each other. */
const ALIKE: Readonly<Record<string, string>> = {
  b: "[b8]",
  e: "[e3]",
  g: "[g9]",
  i: "[il1|!]",
  l: "[il1|!]",
  o: "[o0]",
  s: "[s5]",
  t: "[t7]",
};

const word = (letters: string, gap: string): string => [...letters].map((letter) => ALIKE[letter] ?? letter).join(gap);

const anyOf = (names: string, gap: string): string =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => word(name, gap))
    .join("|");

/**
 * Between the letters of a marker: anything that is no letter and no digit, however long. Lazy, so that the engine keeps no
 * state for each character of a long gap.
 */
const ANY = `[^\\p{L}\\p{N}${BREAK}]*?`;

/**
 * The words that both markers share. They are broken wherever they stand, in prose too: an exemption that depends on the
 * text around them is one that a sender can write.
 */
export const MARKER: RegExp = new RegExp(`(?<!${BREAK})${word("untrusted", ANY)}${ANY}${word("content", ANY)}`, "gu");

/** Between the letters of a token: spaces and what joins words. */
const GAP = "[ \\t\\u00a0_-]{0,16}";
const ODD = "\\u00a0{0,16}";
const slash = (gap: string): string => `(?:${gap}/)?${gap}`;

/** Names between `<|` and `|>`. Other names count too, but only without spaces: `f <| x |> g` is a program. */
const PIPED = anyOf(
  `imstart imend imsep endoftext beginoftext startoftext system user assistant human developer tool end start message
   channel return call constrain startheaderid endheaderid eotid eomid pythontag endofturn startofturn beginofsentence
   endofsentence fimprefix fimsuffix fimmiddle`,
  GAP,
);

/** Names between `<` and `>`, with or without `/`, a prefix and attributes. */
const TAGGED = anyOf(
  `system assistant user human developer tool function toolcall toolcalls toolresult toolresponse tooloutput tools
   functioncall functioncalls functionresult functionresults functionresponse invoke think thinking startofturn
   endofturn startofimage endofimage startofrole endofrole instructions systemprompt untrustedcontent`,
  GAP,
);

/** Names too short for gaps: `a < s > b` is arithmetic. */
const SHORT = anyOf("s bos eos pad unk sop eop", ODD);

const BRACKETED = anyOf("inst systemprompt availabletools toolcalls toolresults toolcontent gmask sop", GAP);

/** A chat control token of a common model family, from its opening bracket on; to be broken behind that bracket. */
export const TOKEN: RegExp = new RegExp(
  [
    `[<«]${ODD}\\|[\\p{L}\\p{N}_.:/\\u00a0-]{1,64}\\|${ODD}[>»]`,
    `[<«]${GAP}\\|${GAP}(?:${PIPED})${GAP}\\|${GAP}[>»]`,
    `<${slash(ODD)}(?:\\|?[a-z]{1,16}[:|])?(?:${TAGGED})(?=[\\s/>]|$)`,
    `<${slash(GAP)}(?:${TAGGED})${slash(GAP)}>`,
    `<${slash(ODD)}(?:${SHORT})${slash(ODD)}>`,
    `[<«]${slash(GAP)}${word("sys", GAP)}${GAP}[>»]`,
    `\\[${slash(GAP)}(?:${BRACKETED})${GAP}\\]`,
  ].join("|"),
  "gu",
);

/** A line that opens a turn in the plain-text format, up to its colon. */
export const ROLE_LINE: RegExp = new RegExp(
  `(?<=^|[\\n\\r])[ \\t\\u00a0]{0,16}(?:${anyOf("human assistant", ODD)})[ \\t\\u00a0]{0,16}(?=:)`,
  "gu",
);
