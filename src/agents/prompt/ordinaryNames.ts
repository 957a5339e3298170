/*
 * Names that ordinary text has in brackets and that have the form of a control token. No tokenizer uses them. A name that is
 * missing here only adds an unnecessary sign to some text; it is no security gap.
 */

const list = (names: string): string => names.trim().split(/\s+/).join("|");

/** Words in square brackets: levels and marks in logs, subjects of mails, task lists, time zones; index names in code. */
export const IN_SQUARE_BRACKETS: string = list(`
  ALERT CRIT CRITICAL DBG DEBUG EMERG EMERGENCY ERR ERROR FATAL FINE FINER FINEST INF INFO LOG NOTICE PANIC SEVERE TRACE
  VERBOSE WARN WARNING WRN MAIN ROOT STDERR STDOUT ABORTED BLOCKED CANCELED CANCELLED COMPLETE CREATED DELETED DONE DOWN DRAFT
  EXTERNAL EXT FAIL FAILED FAILURE FIX FIXED FIXME FLAKY HACK IGNORED INTERNAL MERGED NEW NOTE OPEN PASS PASSED PENDING
  REDACTED RELEASE RESOLVED REVIEW RFC RUNNING SECURITY SKIP SKIPPED SPAM STARTED STOPPED SUCCESS TBD TEST TODO UPDATE
  UPDATED URGENT WIP XXX BUG CET CEST EST GMT PST UTC API AWS CSS CSV CPU DNS GPU HTML HTTP HTTPS JSON LTS PDF SQL SSH SSL
  TLS TCP UDP GET POST PUT PATCH HEAD DELETE MIT NPM ESM README LICENSE URI URL UUID XML YAML IDX INDEX LEN MAX MIN NUM POS SIZE
`);

/** Elements of HTML in capitals (the token `<PRE>` excepted), and types and placeholders in angle brackets. */
export const IN_ANGLE_BRACKETS: string = list(`
  ABBR ADDRESS AREA ARTICLE ASIDE AUDIO BASE BIG BLOCKQUOTE BODY BUTTON CANVAS CAPTION CENTER CITE CODE COL COLGROUP DATA DEL
  DETAILS DFN DIALOG DIV EMBED FIELDSET FIGCAPTION FIGURE FONT FOOTER FORM FRAME FRAMESET HEAD HEADER HGROUP HTML IFRAME IMG
  INPUT INS KBD LABEL LEGEND LINK MAIN MAP MARK MENU NAV NOFRAMES NOSCRIPT OBJECT OPTGROUP OPTION OUTPUT PARAM PICTURE
  PROGRESS SAMP SCRIPT SECTION SELECT SLOT SMALL SOURCE SPAN STRIKE STRONG STYLE SUB SUMMARY SUP SVG TABLE TBODY TEMPLATE
  TEXTAREA TFOOT THEAD TIME TITLE TRACK VAR VIDEO WBR API CSV DATE DTO FILE GUID HOST ISBN JSON NAME PATH PID PORT URI URL
  USER UTC UUID XML YAML
`);

/** Prefixes of XML's usual vocabularies, and schemes of addresses. */
export const PREFIXES: string = list(`
  android app asp atom cac cbc content creativecommons cfdi cdf crs cs cv dc dcat dcterms doc ds dsig ec env ext feedburner fo foaf
  geo georss gml gco gmd gpx html itunes jsp kml ltx mathml media mml mods mtext ns ns0 ns1 ns2 ns3 ns4 odm office opensearch
  owl oai pkg pic podcast rdf rdfs rel rss rsm saml saml2 saml2p samlp sec sh skos slash soap soap12 soapenv spring sp ss
  svelte svg sitemap sy table tei text thr tns tools tp ubl udt ram ui url urn v8 video vt wp wsa wsdl wsse wsu wsp xenc xf
  xhtml xi xlink xlmns xml xs xsd xsi xsl xslt xul yt mailto tel sms sip sips xmpp magnet news cid mid data tag http
  https ftp file ssh git
`);

/** Types of programming languages that end in digits. */
export const NUMBERED_TYPES: string = list(
  "base bfloat bool byte bytes char complex fixed float int ipv long sha simd uint utf vec",
);
