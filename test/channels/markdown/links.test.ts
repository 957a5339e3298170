import { expect } from "chai";
import { toParts } from "../../../src/channels/markdown/parts.ts";
import type { Dialect } from "../../../src/channels/markdown/style.ts";

const EVIL = "https://evil.example/x";
const LINKING = ["telegram-html", "slack", "discord", "markdown"] as const satisfies readonly Dialect[];

const write = (markdown: string, dialect: Dialect): string =>
  toParts(markdown, { dialect, limit: 4_000, unit: "utf16" })
    .map(({ text }) => text)
    .join("");

/** Returns whether a text of a dialect has a link with a hidden address. */
const hidesAddress = (text: string): boolean => /<a href=|\]\((?!$)/.test(text);

describe("link label", () => {
  const misleading = [
    "https://bank.example/login",
    "HTTPS://BANK.EXAMPLE",
    "bank.example",
    "www.bank.example/login",
    "**bank**.example",
    "`bank.example`",
    "Log in at bank.example now",
    "bank\u200b.exam\u00adple",
    "bank。example",
    "ｂａｎｋ．ｅｘａｍｐｌｅ",
    "bank․example",
    "https:∕∕bank.example",
    "https：//bank.example",
    "https://evil.example@bank.example/",
    "evil.example@bank.example",
    "help@bank.example",
    "bаnk.example",
    "xn--bnk-7cd.example",
    "банк.рф",
    "192.0.2.7",
    "https://localhost:3000",
    "localhost:3000",
    "localhost",
    "intranet:8443/login",
    "bank[.]example",
    "bank(dot)example",
    "www{.}bank[.]example",
    "bank։example",
    "bank٠example",
    "bank⸱example",
    "bankꞏexample",
    "http://[2001:db8::1]/",
    "evil.example.bank.example",
    "https://evil.example/other",
    "\u202eelpmaxe.live//:sptth\u202c bank.example",
  ];
  for (const label of misleading) {
    it(`is shown with the target if it names another address: ${label}`, () => {
      for (const dialect of LINKING) {
        const text = write(`[${label}](${EVIL})`, dialect);

        expect(hidesAddress(text), `${dialect}: ${text}`).to.equal(false);
        expect(text)
          .to.include(EVIL)
          .and.not.match(/[\u202a-\u202e]/);
      }
    });
  }

  const honest: [string, string][] = [
    ["here", EVIL],
    ["the docs, e.g. of v1.2.3", EVIL],
    ["package.json", EVIL],
    ["Node.js", "https://nodejs.org/en"],
    ["evil.example", EVIL],
    ["www.evil.example", EVIL],
    ["https://evil.example", EVIL],
    ["evil.example/x", EVIL],
    ["and/or, 24/7, a:b", EVIL],
    ["line 12 of app.ts:1200, main:7", EVIL],
    ["Zürich.example", "https://xn--zrich-kva.example/"],
  ];
  for (const [label, href] of honest) {
    it(`hides the target if it names no other address: ${label}`, () => {
      for (const dialect of LINKING)
        expect(hidesAddress(write(`[${label}](${href})`, dialect)), dialect).to.equal(true);
    });
  }
});

describe("link label with adjacent text", () => {
  const around = [
    `bank[.example](${EVIL})`,
    `[bank](${EVIL}).example`,
    `https://bank.[example](${EVIL})`,
    `[bank](${EVIL})[.example](${EVIL})`,
    `**bank**[.example](${EVIL})`,
    `bank\u200b[.example](${EVIL})`,
    `[here](${EVIL}) (https://bank.example)`,
    `[here](${EVIL})（bank.example）`,
    `[here](${EVIL} "https://bank.example/login")`,
    `[here](${EVIL}) \\<https://bank.example>`,
    `${"a".repeat(400)}[.example](${EVIL})`,
  ];
  for (const markdown of around) {
    it(`is shown with the target: ${markdown.slice(0, 80)}`, () => {
      for (const dialect of LINKING) {
        const text = write(markdown, dialect);

        expect(hidesAddress(text), `${dialect}: ${text}`).to.equal(false);
        expect(text).to.include(EVIL);
      }
    });
  }

  const apart = [
    `see bank.example, or [here](${EVIL})`,
    `[here](${EVIL}), bank.example`,
    `[here](${EVIL}) and (bank.example)`,
    `evil.example/[x](${EVIL})`,
    `([here](${EVIL})) [there](${EVIL}).`,
  ];
  for (const markdown of apart) {
    it(`hides the target if nothing else is named: ${markdown}`, () => {
      for (const dialect of LINKING) expect(hidesAddress(write(markdown, dialect)), dialect).to.equal(true);
    });
  }
});

describe("text that a service could read as a link", () => {
  const others = [
    `[bank.example][1]\n\n[1]: ${EVIL}`,
    `[bank.example]\n\n[bank.example]: ${EVIL}`,
    `![bank.example][1]\n\n[1]:<${EVIL}>`,
    `[bank.example](${EVIL} y)`,
    `[bank.example]\\(${EVIL})`,
    `[bank.example]&#40;${EVIL})`,
    `[1]&#58; ${EVIL}\n\n[1]`,
  ];
  for (const markdown of others) {
    it(`keeps its brackets as text: ${JSON.stringify(markdown)}`, () => {
      for (const dialect of ["slack", "discord", "markdown"] as const) {
        const text = write(markdown, dialect);

        expect(text, dialect).to.not.match(/(?<!\\)\][(:]/);
        expect(text).to.include(EVIL);
      }
    });
  }
});

describe("link address", () => {
  const schemes = [
    ...[
      "ms-msdt:/id",
      "vscode://a/b",
      "slack://open",
      "MS-Word:ofe|u|https://a.bc",
      "file:///etc/passwd",
      "javascript:alert(1)",
      "data:text/html,x",
    ],
    ...[
      "tg://user?id=1",
      "tg:///user?id=1",
      "TG://USER?id=1",
      "tg:user?id=1",
      "tg://%75ser?id=1",
      "tg://login?token=x",
    ],
    ...["tel:+123", "ftp://a.bc", "/api/logout", "//evil.example"],
  ];
  for (const href of schemes) {
    it(`is text with a scheme that starts a program, or with none: ${href}`, () => {
      for (const dialect of LINKING) {
        const text = write(`[y](${href})`, dialect);
        const bare = write(/^[a-z]+:/i.test(href) ? `<${href}>` : "", dialect);

        expect(hidesAddress(text), `${dialect}: ${text}`).to.equal(false);
        expect(bare).to.not.match(/<a href|<(?!\/)[a-z-]+:/i);
      }
    });
  }

  it("becomes a tg: link in Telegram only", () => {
    const shown = LINKING.map((dialect) => hidesAddress(write("[y](tg://resolve?domain=a)", dialect)));

    expect(shown).to.deep.equal([true, false, false, false]);
  });

  it("is shown with bidirectional controls encoded", () => {
    for (const dialect of ["whatsapp", "plain", ...LINKING] as const) {
      expect(write("[bank.example](https://evil.example/\u202egpj)", dialect)).to.include("/%E2%80%AEgpj");
    }
  });
});
