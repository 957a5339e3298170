/** A mail as it is sent, and what readers see of it. */
export interface MailSample {
  readonly what: string;
  /** The mail; each character up to U+00FF is one byte, and a line end is `\n`. */
  readonly raw: string;
  readonly subject: string;
  /** Texts that the body contains in this order. */
  readonly shown: readonly string[];
  /** Texts that the body does not contain. */
  readonly hidden?: readonly string[];
}

/** The bytes of a text in UTF-8, as characters. */
const utf8 = (text: string) => Buffer.from(text).toString("latin1");
const base64 = (bytes: string) => Buffer.from(bytes, "latin1").toString("base64").replace(/.{76}/g, "$&\n");

const HEAD =
  "From: Ada <ada@example.org>\nTo: bob@example.org\nDate: Fri, 20 Nov 2026 10:00:00 +0100\nMIME-Version: 1.0\n";

const sample = (
  what: string,
  subject: string,
  raw: string,
  shown: readonly string[],
  hidden: readonly string[] = [],
) => ({ what, subject, raw: HEAD + raw, shown, hidden });

/** Returns a multipart body with these parts, each with its headers. */
const parts = (boundary: string, ...all: readonly string[]) =>
  `${all.map((part) => `--${boundary}\n${part}\n`).join("")}--${boundary}--\n`;

const PLAIN = "Content-Type: text/plain; charset=utf-8\n\n";
const HTML = "Content-Type: text/html; charset=utf-8\n\n";
const MIXED = 'Content-Type: multipart/mixed; boundary="b1"\n\n';

const CHARSETS: readonly MailSample[] = [
  [
    "ISO 8859-1 in quoted-printable",
    "iso-8859-1",
    "quoted-printable",
    "Sch=F6ne Gr=FC=DFe aus K=\n=F6ln",
    "Schöne Grüße aus Köln",
  ],
  [
    "the typographic signs of Windows, labelled ISO 8859-1",
    "iso-8859-1",
    "8bit",
    "I\x92m at \x93home\x94 \x96 5 \x80",
    "I’m at “home” – 5 €",
  ],
  ["Windows-1252 without a label", "", "8bit", "It costs 5 \x80", "It costs 5 €"],
  ["ISO 8859-2", "ISO-8859-2", "8bit", "Za\xbf\xf3\xb3\xe6 g\xea\xb6l\xb1 ja\xbc\xf1", "Zażółć gęślą jaźń"],
  ["Windows-1251", "windows-1251", "8bit", "\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"],
  ["KOI8-R in base64", "koi8-r", "base64", base64("\xf0\xd2\xc9\xd7\xc5\xd4"), "Привет"],
  ["Greek in ISO 8859-7", "iso-8859-7", "8bit", "\xca\xe1\xeb\xe7\xec\xdd\xf1\xe1", "Καλημέρα"],
  ["Hebrew with its direction in the label", "iso-8859-8-i", "8bit", "\xf9\xec\xe5\xed", "שלום"],
  ["Arabic in Windows-1256", "windows-1256", "8bit", "\xe3\xd1\xcd\xc8\xc7", "مرحبا"],
  ["ISO 2022-JP", "iso-2022-jp", "7bit", "\x1b$B$3$s$K$A$O\x1b(B", "こんにちは"],
  ["Shift_JIS in base64", "Shift_JIS", "base64", base64("\x82\xb1\x82\xf1\x82\xc9\x82\xbf\x82\xcd"), "こんにちは"],
  ["GB 2312 with a letter of GBK", "gb2312", "8bit", "\xc4\xe3\xba\xc3 \xe9F", "你好 镕"],
  ["Big5", "big5", "8bit", "\xa7A\xa6n", "你好"],
  ["EUC-KR", "ks_c_5601-1987", "8bit", "\xbe\xc8\xb3\xe7", "안녕"],
  ["UTF-8 labelled US-ASCII", "us-ascii", "8bit", utf8("naïve 👍"), "naïve 👍"],
  ["UTF-16 with a byte order mark in base64", "utf-16", "base64", base64("\xff\xfeH\0i\0 \0\xac\x20"), "Hi €"],
  ["UTF-7", "utf-7", "7bit", "Hi +AOQ-", "Hi ä"],
].map(([what = "", charset = "", encoding = "", bytes = "", text = ""]) =>
  sample(
    what,
    `About ${charset || "nothing"}`,
    `Subject: About ${charset || "nothing"}\nContent-Type: text/plain${charset && `; charset="${charset}"`}\nContent-Transfer-Encoding: ${encoding}\n\n${bytes}\n`,
    [text],
  ),
);

const SHAPES: readonly MailSample[] = [
  sample(
    "a newsletter with a hidden preview",
    "News",
    `Subject: News
Content-Type: multipart/alternative; boundary="=_a.b'c"

${parts(
  "=_a.b'c",
  `${PLAIN} `,
  `${HTML}<html><head><style>p{color:red}</style><title>N</title></head><body>
<div style="display:none;max-height:0">Preview that nobody sees</div><center><h1>News</h1></center>
<table><tr><td>First</td><td>5&nbsp;&euro;</td></tr><tr><td>Second</td><td>7&nbsp;&euro;</td></tr></table>
<p>Read <a href="https://example.org/">more</a>.</p><img src="https://example.org/pixel.gif" width="1"></body></html>`,
)}`,
    ["News", "First 5 €", "Second 7 €", "Read more."],
    ["Preview", "color:red", "pixel"],
  ),
  sample(
    "an invitation with its calendar",
    "Meeting",
    `Subject: Meeting
${MIXED}${parts("b1", `Content-Type: multipart/alternative; boundary=b2\n\n${parts("b2", `${PLAIN}Let us meet.`, `${HTML}<p>Let us <b>meet</b>.</p>`, "Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nEND:VCALENDAR")}`, 'Content-Type: application/ics; name="invite.ics"\nContent-Disposition: attachment; filename="invite.ics"\n\nBEGIN:VCALENDAR')}`,
    ["Let us meet."],
    ["VCALENDAR", "<b>"],
  ),
  sample(
    "a reply by Outlook with a picture in the text",
    "RE: Offer",
    `Subject: RE: Offer
Content-Type: multipart/related; type="multipart/alternative"; boundary="----=_NextPart_000"

${parts("----=_NextPart_000", `Content-Type: multipart/alternative; boundary="----=_NextPart_001"\n\n${parts("----=_NextPart_001", `${PLAIN}Agreed.\n\n-----Original Message-----\nFrom: Bob`, `${HTML}<html xmlns:o="urn:x"><!--[if gte mso 9]><xml><o:x>1</o:x></xml><![endif]--><p class=MsoNormal>Agreed.<o:p></o:p></p></html>`)}`, 'Content-Type: image/png; name="image001.png"\nContent-ID: <i@x>\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=')}`,
    ["Agreed.", "-----Original Message-----", "From: Bob"],
    ["MsoNormal", "iVBOR"],
  ),
  sample(
    "HTML of Outlook alone",
    "Hello",
    `Subject: Hello
${HTML}<html xmlns:o="urn:x"><head><!--[if gte mso 9]><xml><o:x>secret</o:x></xml><![endif]--></head><body><p class=MsoNormal>One<o:p></o:p></p><p class=MsoNormal><o:p>&nbsp;</o:p></p><p class=MsoNormal>Two<o:p></o:p></p></body></html>`,
    ["One", "Two"],
    ["secret", "o:p"],
  ),
  sample(
    "a forwarded mail as an attachment without a name",
    "Fwd: Bill",
    `Subject: Fwd: Bill
${MIXED}${parts("b1", `${PLAIN}Please pay.`, `Content-Type: message/rfc822\n\nSubject: Bill\n${PLAIN}You owe 12 EUR.`)}`,
    ["Please pay.", "You owe 12 EUR."],
  ),
  sample(
    "a report that a mail was not delivered",
    "Undelivered Mail Returned to Sender",
    `Subject: Undelivered Mail Returned to Sender
Content-Type: multipart/report; report-type=delivery-status; boundary="b1"

${parts("b1", "Content-Type: text/plain; charset=us-ascii\n\nI'm sorry to inform you.\n\n<bob@example.org>: unknown user", "Content-Type: message/delivery-status\n\nStatus: 5.1.1", "Content-Type: text/rfc822-headers\n\nSubject: Lost")}`,
    ["I'm sorry to inform you.", "<bob@example.org>: unknown user"],
    ["Status: 5.1.1"],
  ),
  sample(
    "a signed mail of a list with its footer",
    "[list] Release",
    `Subject: [list] Release
${MIXED}${parts("b1", `Content-Type: multipart/signed; protocol="application/pgp-signature"; boundary=b2\n\n${parts("b2", `${PLAIN}It is out.`, 'Content-Type: application/pgp-signature; name="signature.asc"\n\n-----BEGIN PGP SIGNATURE-----')}`, `${PLAIN}_____\nlist@example.org`)}`,
    ["It is out.", "list@example.org"],
    ["BEGIN PGP"],
  ),
  sample(
    "flowed text with quotes and a signature",
    "Re: plan",
    `Subject: Re: plan
Content-Type: text/plain; charset=utf-8; format=flowed; delsp=yes

> Shall we? \n> Yes.
Fine.

-- \nAda`,
    ["> Shall we?", "Fine.", "-- ", "Ada"],
  ),
  sample(
    "attached text in the Japanese way",
    "資料",
    `Subject: =?ISO-2022-JP?B?GyRCO3FOQRsoQg==?=
${MIXED}${parts("b1", `${PLAIN}${utf8("資料です。")}`, "Content-Type: text/plain; name*=iso-2022-jp''%1B$B\nContent-Disposition: attachment; filename*=utf-8''a.txt\n\nsecret file")}`,
    ["資料です。"],
    ["secret file"],
  ),
];

const BROKEN: readonly MailSample[] = [
  sample("a subject in raw UTF-8", "Grüße 👍", utf8(`Subject: Grüße 👍\n${PLAIN}Hi`), ["Hi"]),
  sample(
    "a long folded subject whose words split a letter",
    "Übersicht über alles €",
    `Subject: =?utf-8?B?w5xiZXJzaWNodCDD?=\n =?utf-8?B?vGJlciBhbGxlcyA=?=\n\t=?UTF-8?Q?=E2=82?= =?utf-8?Q?=AC?=\n${PLAIN}Hi`,
    ["Hi"],
  ),
  sample(
    "an encoded word that has spaces and no end",
    "=?utf-8?Q?half a word",
    `Subject: =?utf-8?Q?half a word\n${PLAIN}Hi`,
    ["Hi"],
  ),
  sample("two subjects, of which the first counts", "one", `Subject: one\nSubject: two\n${PLAIN}Hi`, ["Hi"]),
  sample("no subject and no type", "", "\nHi there", ["Hi there"]),
  sample("lines that are no headers", "ok", `garbage line\nSubject: ok\n: empty\n${PLAIN}Hi`, ["Hi"]),
  sample("a multipart without its last boundary", "cut", `Subject: cut\n${MIXED}--b1\n${PLAIN}The beginning`, [
    "The beginning",
  ]),
  sample(
    "a multipart whose boundary never occurs",
    "none",
    `Subject: none\nContent-Type: multipart/mixed; boundary=x\n\n--y\n${PLAIN}lost`,
    [],
    ["lost"],
  ),
  sample(
    "base64 that ends within a letter",
    "torn",
    `Subject: torn\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\n${base64(utf8("Price: 5 €")).slice(0, -3)}`,
    ["Price: 5"],
  ),
  sample(
    "quoted-printable with bare equals signs",
    "bare",
    `Subject: bare\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\na=b&c=zz =\nend=E2=82=AC`,
    ["a=b&c=zz end€"],
  ),
  sample(
    "a charset that nobody knows",
    "odd",
    `Subject: odd\nContent-Type: text/plain; charset="x-unknown;"\n\ncaf\xe9`,
    ["café"],
  ),
  sample(
    "controls, colours and a page end",
    "colours off",
    `Subject: colours\x07 \x1b[1moff\x1b[0m\n${PLAIN}one\x0ctwo\x08 \x1b[31mthree\x1b[0m`,
    ["one\ntwo three"],
    ["\x1b", "[31m"],
  ),
  sample(
    "HTML that never ends",
    "open",
    `Subject: open\n${HTML}<div><table><tr><td>One<td>Two<p>Three<!-- no`,
    ["One", "Two", "Three"],
    ["no"],
  ),
  sample("an empty body", "empty", `Subject: empty\n${PLAIN}`, []),
];

export const MAILS: readonly MailSample[] = [...CHARSETS, ...SHAPES, ...BROKEN];
