import { expect } from "chai";
import { htmlToText } from "../../../src/gmail/mail/htmlToText.ts";
import { isSkippedMail, readMail } from "../../../src/gmail/mail/mail.ts";

const WHOLE = { includeBody: true, maxBytes: 20_000 };

const base64url = (content: string | Uint8Array) => Buffer.from(content as string).toString("base64url");

/** Creates a part with a body; `type` may include parameters. */
const part = (type: string, content: string | Uint8Array, more: object = {}) => ({
  mimeType: type.split(";")[0],
  filename: "",
  headers: [{ name: "Content-Type", value: type }],
  body: { size: content.length, data: base64url(content) },
  ...more,
});

const multipart = (kind: string, ...parts: unknown[]) => ({
  mimeType: `multipart/${kind}`,
  filename: "",
  body: { size: 0 },
  parts,
});

const bodyOf = (payload: unknown, maxBytes = 20_000) => readMail({ payload }, { includeBody: true, maxBytes }).body;

const headed = (name: string, value: string) => readMail({ payload: { headers: [{ name, value }] } }, WHOLE);

describe("readMail", () => {
  it("reads a message resource", () => {
    const plain = part("text/plain; charset=utf-8", "Hello,\r\n\r\nBob\r\n");
    const headers = [
      { name: "From", value: "Ada <ada@example.org>" },
      { name: "TO", value: "bob@example.org,\r\n carol@example.org" },
      { name: "Subject", value: "=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=" },
      { name: "Date", value: "Fri, 20 Nov 2026 10:00:00 +0100" },
    ];
    const resource = {
      id: "m1",
      threadId: "t1",
      labelIds: ["INBOX", "UNREAD"],
      snippet: "Hello, it&#39;s &lt;me&gt;",
      internalDate: "1795167000000",
      payload: { ...plain, headers: [...headers, ...plain.headers] },
    };

    const { body, ...rest } = readMail(resource, WHOLE);

    expect(body).to.equal("Hello,\n\nBob");
    expect(rest).to.deep.equal({
      id: "m1",
      threadId: "t1",
      labelIds: ["INBOX", "UNREAD"],
      from: "Ada <ada@example.org>",
      to: "bob@example.org, carol@example.org",
      subject: "Grüße",
      date: new Date(1_795_167_000_000).toISOString(),
      snippet: "Hello, it's <me>",
    });
    expect(readMail(resource, { ...WHOLE, includeBody: false })).to.deep.equal(rest);
  });

  it("returns the sender's date if Gmail gives none, and an empty one if that is invalid", () => {
    expect(headed("Date", "Fri, 20 Nov 2026 10:00:00 +0100").date).to.equal("2026-11-20T09:00:00.000Z");
    expect(headed("Date", "tomorrow").date).to.equal("");
  });

  const plain = part("text/plain; charset=utf-8", "plain words");
  const html = part("text/html; charset=utf-8", "<p>rich <b>words</b></p>");
  const attached = part("text/plain", "of a file", { filename: "notes.txt" });
  const BODIES: [string, unknown, string][] = [
    ["one plain part", plain, "plain words"],
    ["one HTML part", html, "rich words"],
    ["plain before HTML", multipart("alternative", plain, html), "plain words"],
    ["plain after HTML", multipart("alternative", html, plain), "plain words"],
    ["HTML where the plain part is blank", multipart("alternative", part("text/plain", " \r\n"), html), "rich words"],
    [
      "HTML where the plain part has nothing to see",
      multipart("alternative", part("text/plain", "\u200b\u00ad \u2060\r\n\ufeff"), html),
      "rich words",
    ],
    [
      "HTML with its pictures",
      multipart("alternative", multipart("related", html, part("image/png", "x"))),
      "rich words",
    ],
    [
      "alternatives beside an attachment",
      multipart("mixed", multipart("alternative", plain, html), attached),
      "plain words",
    ],
    [
      "an alternative that is mixed",
      multipart("alternative", plain, multipart("mixed", html, attached)),
      "plain words",
    ],
    ["a list's footer", multipart("mixed", plain, part("text/plain", "footer")), "plain words\n\nfooter"],
    [
      "an attachment without a name",
      multipart("mixed", { ...plain, headers: [{ name: "content-disposition", value: "Attachment" }] }),
      "",
    ],
    ["a part without a type", { body: { data: base64url("bare") } }, "bare"],
    ["a calendar alone", part("text/calendar", "BEGIN:VCALENDAR"), "BEGIN:VCALENDAR"],
    [
      "HTML under another name",
      multipart("alternative", part("text/x-amp-html", "<p>fast <b>words</b></p>")),
      "fast words",
    ],
    ["Markdown alone", multipart("alternative", part("text/markdown", "# words")), "# words"],
    [
      "a calendar beside words",
      multipart("alternative", plain, part("text/calendar", "BEGIN:VCALENDAR")),
      "plain words",
    ],
    ["a calendar that is attached", part("text/calendar", "BEGIN:VCALENDAR", { filename: "invite.ics" }), ""],
    ["a picture alone", part("image/svg+xml", "<svg/>"), ""],
    ["no payload", undefined, ""],
    ["a part without data", { mimeType: "text/plain", body: { size: 0 } }, ""],
    ["parts that are none", { mimeType: "multipart/mixed", parts: [null, 7, "x", [], {}] }, ""],
    [
      "text that Gmail keeps apart",
      { mimeType: "text/plain", body: { size: 20_971_520, attachmentId: "a" } },
      "[20971520 bytes more]",
    ],
    ["control characters", part("text/plain", "a\0b\u001b[31mc\td"), "abc\td"],
    [
      "page ends",
      part("text/plain", "page one\fpage two\vthree\u0085four\u001cfive\rsix"),
      "page one\npage two\nthree\nfour\nfive\nsix",
    ],
    ["preformatted HTML", part("text/html", "<pre>  a\n b</pre>"), "  a\n b"],
    ["blank lines around indented text", part("text/plain", " \r\n\r\n  a\n b \n\n"), "  a\n b"],
    ["base64 with + and /", { mimeType: "text/plain", body: { data: Buffer.from("ÿþ~~").toString("base64") } }, "ÿþ~~"],
  ];
  for (const [what, payload, expected] of BODIES) {
    it(`returns the body of ${what}`, () => expect(bodyOf(payload)).to.equal(expected));
  }

  const CHARSETS: [string, number[], string][] = [
    ["iso-8859-1", [0x63, 0x61, 0x66, 0xe9], "café"],
    ["ISO-8859-15", [0xa4], "€"],
    ['"iso-8859-2"', [0xb1], "ą"],
    ["windows-1252", [0x93, 0x80, 0x94], "“€”"],
    ["windows-1251", [0xcf, 0xf0, 0xe8], "При"],
    ["koi8-r", [0xf0, 0xd2, 0xc9], "При"],
    ["shift_jis", [0x93, 0xfa, 0x96, 0x7b], "日本"],
    ["iso-2022-jp", [0x1b, 0x24, 0x42, 0x46, 0x7c, 0x1b, 0x28, 0x42], "日"],
    ["utf-16le", [0x61, 0x00, 0xe9, 0x00], "aé"],
    ["us-ascii", [0xe9], "é"],
    ["unknown-8bit", [0xe9], "é"],
    ["cp932", [0x93, 0xfa, 0x96, 0x7b], "日本"],
    ["CP936", [0xc4, 0xe3, 0xba, 0xc3], "你好"],
    ["cp949", [0xb0, 0xa1, 0xc1, 0xa4], "가정"],
    ["cp950", [0xa4, 0xa4, 0xa4, 0xe5], "中文"],
    ["'gb2312'", [0xc4, 0xe3, 0xba, 0xc3], "你好"],
    ["utf-16", [0xfe, 0xff, 0x00, 0x61, 0x00, 0xe9], "aé"],
    ["utf-16", [0xff, 0xfe, 0x61, 0x00, 0xe9, 0x00], "aé"],
    ["utf-16le", [0xfe, 0xff, 0x00, 0x61], "a"],
    ["utf-16be", [0xff, 0xfe, 0x61, 0x00], "a"],
    ["utf-16be", [0x00, 0x61], "a"],
    ["utf-8", [0x61, 0xff], "a\ufffd"],
    ["iso-8859-1", [...Buffer.from("\x1b[31mrügt\x1b[0m")], "rügt"],
    ["", [...Buffer.from("\x1b[31mrügt\x1b[0m")], "rügt"],
    ["iso-2022-jp-ms", [...Buffer.from("\x1b$B$3$s\x1b(B")], "こん"],
    ["_iso-2022-jp$ESC", [...Buffer.from("\x1b$B$3$s\x1b(B")], "こん"],
    ["cp50220", [...Buffer.from("\x1b$B$3$s\x1b(B")], "こん"],
    ["utf-8", [...Buffer.from("\x1b$B$3$s\x1b(B")], "こん"],
    ["", [...Buffer.from("a \x1b$@$3$s\x1b(J\r\nb")], "a こん\nb"],
    ["iso-2022-jp", [...Buffer.from("\x1b$B$3\x1b(B\x1b$B$s\x1b(B")], "こん"],
    ["iso-2022-jp", [...Buffer.from("\x1b$B$3$")], "こ"],
    ["iso-2022-jp", [...Buffer.from("\x1b(I12\x1b(B")], "ｱｲ"],
    ["iso-2022-jp-1", [...Buffer.from("\x1b$(D0!\x1b(B")], "丂"],
    ["iso-2022-jp-2", [...Buffer.from("\x1b$ADc:C\x1b$(C0!\x1b(B\x1b.Aa\x1bNi")], "你好가aé"],
    ["iso-2022-jp", [...Buffer.from("\x1b[31mred \x1b$B$3\x1b(B")], "red こ"],
    ["iso-2022-kr", [...Buffer.from("\x1b$)C\x0e0!A$\x0f a")], "가정 a"],
    ["iso-2022-cn", [...Buffer.from("\x1b$)A\x0eDc:C\x0f a")], "你好 a"],
    ["iso-2022-cn", [...Buffer.from("\x1b$)G\x0eDc:C\x0f a")], "\ufffd\ufffd a"],
    ["iso-2022-kr", [0xb0, 0xa1], "°¡"],
    ["hz-gb-2312", [...Buffer.from("~{Dc:C~} ~~ a~\nb")], "你好 ~ ab"],
    ["utf-7", [...Buffer.from("caf+AOk- 1+-1 +ZeVnLA")], "café 1+1 日本"],
    ["UNICODE-1-1-UTF-7", [...Buffer.from("+AOk")], "é"],
    ["windows-1252", [0x49, 0x92, 0x6d], "I’m"],
    ["", [0x80, 0x99, 0x9f], "€™Ÿ"],
    // Gmail converted the part to UTF-8 and kept the header.
    ["iso-2022-jp", [...Buffer.from("こん")], "こん"],
    ["iso-8859-1", [...Buffer.from("café")], "café"],
  ];
  for (const [charset, bytes, expected] of CHARSETS) {
    it(`decodes ${charset}: ${expected}`, () => {
      expect(bodyOf(part(`text/plain; format=flowed; charset=${charset}`, new Uint8Array(bytes)))).to.equal(expected);
    });
  }

  const SUBJECTS: [string, string][] = [
    ["plain", "plain"],
    ["Grüße", "Grüße"],
    ["=?utf-8?B?R3LDvMOfZQ==?=", "Grüße"],
    ["=?ISO-8859-1?Q?caf=E9_=3D_bar?=", "café = bar"],
    ["=?utf-8*en?q?hi?= there", "hi there"],
    ["a =?utf-8?q?b?= c", "a b c"],
    ["=?utf-8?q?a?= =?utf-8?q?b?=", "ab"],
    ["=?utf-8?q?a?=\r\n =?iso-8859-1?q?=E9?= x =?utf-8?q?c?=", "aé x c"],
    ["=?utf-8?B?4oI=?= =?utf-8?B?rA==?=", "€"],
    ["=?koi8-r?B?8NLJ?=", "При"],
    ["=?no-such?q?=E9?=", "é"],
    ["=?utf-8?x?a?=", "=?utf-8?x?a?="],
    ["=?utf-8?q?a", "=?utf-8?q?a"],
    ["a\r\n\tb\0c", "a b c"],
    ["=?ISO-2022-JP?B?GyRCJUYlOSVIGyhC?= =?ISO-2022-JP?B?GyRCJUYlOSVIGyhC?=", "テストテスト"],
    ["=?iso-2022-jp-ms?Q?=1B$B$3=1B(B?=\r\n =?iso-2022-jp-ms?Q?=1B$B$s=1B(B?=", "こん"],
    ["=?iso-2022-kr?Q?=0E0!?= =?iso-2022-kr?Q?a=0EA$=0F?=", "가a정"],
    ["=?utf-7?Q?+AOk?= =?utf-7?Q?-a?=", "é-a"],
    ["\x1b$B$3$s\x1b(B", "こん"],
    ["a \x1b[1mb\x1b[0m", "a b"],
  ];
  for (const [written, expected] of SUBJECTS) {
    it(`decodes the subject ${JSON.stringify(written)} as ${JSON.stringify(expected)}`, () => {
      expect(headed("subject", written).subject).to.equal(expected);
    });
  }

  it("truncates long headers", () => {
    const { to } = headed("To", "ada@example.org, ".repeat(10_000));

    expect(to).to.have.length(2_000);
    expect(to.endsWith("…")).to.equal(true);
  });

  it("truncates a body between characters and notes how much is missing", () => {
    const payload = part("text/plain", "€".repeat(100));

    expect(bodyOf(payload, 300)).to.equal("€".repeat(100));
    expect(bodyOf(payload, 299)).to.equal(`${"€".repeat(94)}\n[18 bytes more]`);
    expect(bodyOf(payload, 20)).to.equal("€\n[297 bytes more]");
    expect(bodyOf(payload, 7)).to.equal("€€");
    expect(bodyOf(payload, 0)).to.equal("");
  });

  it("counts texts that Gmail stores separately as missing", () => {
    const apart = { mimeType: "text/plain", body: { size: 1_000, attachmentId: "a" } };

    expect(bodyOf(multipart("mixed", part("text/plain", "x".repeat(60)), apart), 50)).to.equal(
      `${"x".repeat(32)}\n[1028 bytes more]`,
    );
  });

  for (const [charset, text] of [
    ["utf-8", "a€"],
    ["iso-2022-jp", "日本a"],
  ] as const) {
    it(`reads the beginning of 20 MB of ${charset} and counts the rest as missing`, () => {
      const bytes = charset === "utf-8" ? Buffer.from(text) : Buffer.from("\x1b$BF|K\\\x1b(Ba", "latin1");
      const all = Buffer.concat(Array.from({ length: 20_000_000 / bytes.length }, () => bytes));
      const headers = [{ name: "Content-Type", value: `text/plain; charset=${charset}` }];

      const { body = "" } = readMail(
        { payload: { mimeType: "text/plain", headers, body: { data: all.toString("base64url") } } },
        { includeBody: true, maxBytes: 1024 * 1024 },
      );

      const [, kept = "", missing] = /^(.*)\n\[(\d+) bytes more\]$/s.exec(body) ?? [];
      expect(kept.slice(0, 2_000)).to.equal(text.repeat(2_000).slice(0, 2_000));
      expect(kept).not.to.include("\ufffd");
      expect(Buffer.byteLength(kept)).to.be.within(1_000_000, 1024 * 1024);
      expect(Number(missing)).to.be.within(10_000_000, 20_000_000);
    });
  }

  for (const label of ["SPAM", "TRASH", "DRAFT", "SENT"]) {
    it(`skips a mail labelled ${label}`, () => {
      expect(isSkippedMail(["INBOX", label])).to.equal(true);
      expect(isSkippedMail(["INBOX", "UNREAD"])).to.equal(false);
    });
  }

  const PAGES: [string, string][] = [
    ["<p>a</p><p>b</p>", "a\n\nb"],
    ["a<br>b<br/>c", "a\nb\nc"],
    ["<div>a</div>\n<div>b</div>", "a\nb"],
    ["<ul><li>a</li><li>b <i>c</i></li></ul>d", "- a\n- b c\n\nd"],
    ["<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc"],
    ["<title>t</title><style>p{}</style><script>x<b>y</script>a", "a"],
    ["<SCRIPT>x</SCRIPT >a", "a"],
    ["<title/>a<style />b<script/>c", "abc"],
    ["a<pre>\nb  c\r\n\n  <b>d</b>\ne</pre>f\ng", "a\n\nb  c\n\n  d\ne\n\nf g"],
    ["<!-- no --><![if mso]>a<![endif]>", "a"],
    ["&lt;b&gt; &amp;amp; &nbsp; &#8364; &eacute; &nosuch;", "<b> &amp; € é &nosuch;"],
    ["a\u200b\u034f\u00ad b", "a b"],
    ['<a href="https://example.org/?a=1&b=2">here</a>', "here"],
    ["a < b <> </> <3", "a < b <> <3"],
    ["<p title='>'>a", "a"],
    ["<constructor>a</__proto__>b", "ab"],
    ["<center>12 EUR</center><center>3 items</center>", "12 EUR\n3 items"],
    ["a<form>b<fieldset><legend>c</legend>d<br/>e</fieldset></form>f", "a\nb\nc\nd\ne\nf"],
    ["<details><summary>a</summary>b</details><dialog open>c</dialog>", "a\nb\nc"],
    ["<figure>a<figcaption>b</figcaption></figure>c", "a\nb\n\nc"],
    ["<table><caption>a</caption><tbody><tr><th>b<td>c<tr><td>d</table>e", "a\nb c\nd\n\ne"],
    ["<select><optgroup><option>a<option>b</select>c", "a\nbc"],
    ["<p>a<div>b</div>c", "a\n\nb\nc"],
    ["<p>a<p>b", "a\n\nb"],
    ["say <q>a</q><wbr>b", "say “a”b"],
    ['<span style="display:block">a</span><span style="display: flex">b</span>', "a\nb"],
    ["<ul><li><p>one</p></li><li><p>two</p></li></ul>three", "- one\n- two\n\nthree"],
    ["<p>zero</p><ul><li><p>one</p><p>more</p><li><div>two</div></ul>", "zero\n\n- one\n\nmore\n- two"],
    ["<ol>\n<li>a<ul><li>b</li></ul></li>\n<li></li><li>c</li></ol>", "- a\n- b\n- c"],
    ["<ul><li></li></ul><p>a</p>", "a"],
    ["<dl><dt>a<dd>b<dt>c<dd><p>d</dl>", "a\nb\nc\n\nd"],
    ["<pre>a  b\n  c</pre>", "a  b\n  c"],
    ["<pre>\n  a\n\tb</pre><p>c  d</p>", "  a\n\tb\n\nc d"],
    ["<ul><li><pre>a  b</pre></ul>", "- a  b"],
    ["<textarea>a  b</textarea><xmp><b>  c</xmp>", "a  b\n\n<b>  c"],
    ['<div style="white-space: pre-wrap">a  b\nc <span style="white-space:normal">d  e</span></div>', "a  b\nc d e"],
  ];
  for (const [page, expected] of PAGES) {
    it(`converts ${page} to ${JSON.stringify(expected)}`, () => expect(htmlToText(page)).to.equal(expected));
  }

  const HIDDEN = [
    'div style="display:none"',
    "div style='DISPLAY : None!Important'",
    "div style=display:none",
    'div style="color:red;display:/**/n\\6fne;display:block2;display:none"',
    'div style="display:none !important;display:block"',
    'div style="display&#58;none"',
    'div style="visibility:hidden"',
    'div style="font-size:0"',
    'div style="font-size: 0px"',
    'div style="font-size:1px;line-height:1px"',
    'div style="font-size:.01em"',
    'div style="font:0/0 a"',
    'div style="font:normal 400 1px/1 Arial"',
    'div style="opacity:0"',
    'div style="opacity: 0.0"',
    'div style="color:transparent"',
    'div style="color: rgba(0, 0, 0, 0)"',
    'div style="color: #ffffff00"',
    'div style="max-height:0;overflow:hidden"',
    'div style="height:0px; overflow-y: clip"',
    'div style="position:absolute;left:-9999px"',
    'div style="text-indent:-9999px"',
    "div hidden",
    'div hidden=""',
    "div popover",
    "dialog",
    "template",
    "datalist",
    'table style="display:none"',
    'p style="display:none"',
    'font style="display:none"',
    'span style="display:none"',
  ] as const;
  for (const tag of HIDDEN) {
    it(`leaves out what <${tag}> hides`, () => {
      const name = tag.split(" ")[0];
      expect(htmlToText(`a<${tag}>no <b>no</b><br>no</${name}> b`).replace(/\s+/g, " ")).to.equal("a b");
    });
  }

  const PARTLY_HIDDEN: [string, string][] = [
    ['<div style="display:none">no<div>no</div>no</div>yes', "yes"],
    ['<p style="display:none">no<p>yes', "yes"],
    ["<ul><li hidden>no<li>yes</ul>", "- yes"],
    ['<table><tr><td style="display:none">no<td>yes<tr><td>yes</table>', "yes\nyes"],
    ['<div><span style="display:none">no</div>yes', "yes"],
    ['<div><font style="display:none">no</div>no</font>yes', "yes"],
    ['<table><tr><td><font style="display:none">no</td><td>yes</td></tr></table>', "yes"],
    ['<div style="display:none"><font>no</div>yes', "yes"],
    ['<span style="display:none"><div>no</span>no</div>no</span>yes', "yes"],
    ['<b style="display:none"><div>no</b>yes</div>', "yes"],
    ['<div style="display:none"><table><tr><td>no</div>no</table>no</div>yes', "yes"],
    ['<img style="display:none"><br hidden>yes', "yes"],
    ['<div style="display:none"/>no</div>yes', "yes"],
    ['<div style="visibility:hidden">no<i style="visibility:visible">yes</i></div>', "yes"],
    ['<div style="font-size:0">no<i style="font-size:2em">no</i><i style="font-size:14px">yes</i></div>', "yes"],
    ['<div style="font-size:0">no<i style="font:bold 12pt/1.2 Arial">yes</i></div>', "yes"],
    ['<div style="color:transparent">no<i style="color:#000">yes</i></div>', "yes"],
    ['<td style="height:0;overflow:hidden">yes</td>', "yes"],
    ['<p style="font:400 14px Arial;opacity:1;max-height:0">yes</p>', "yes"],
    ['<p style="display:none" style="display:block">no</p>yes', "yes"],
    ['<p style="display:block" style="display:none">yes</p>', "yes"],
    ["<ruby>a<rp>(<rt>b<rp>)</ruby>", "ab"],
  ];
  for (const [page, expected] of PARTLY_HIDDEN) {
    it(`shows of ${page} what a reader sees`, () => expect(htmlToText(page)).to.equal(expected));
  }
});
