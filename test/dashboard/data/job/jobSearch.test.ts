import { expect } from "chai";
import fc from "fast-check";
import {
  emptyTitle,
  parseSearch,
  termsOf,
  termText,
  toFilter,
  withoutState,
  withoutTerm,
  withSearch,
  wordsText,
} from "../../../../src/dashboard/data/job/jobSearch.ts";
import { suggestions } from "../../../../src/dashboard/data/job/metadata.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const query = (text: string) => new URLSearchParams(text);

describe("dashboard search of jobs", () => {
  const texts: [text: string, search: string][] = [
    ["nightly import", "search=nightly+import"],
    ["id:ci/7", "jobId=ci%2F7"],
    ["id:ci/build 7", "jobId=ci%2Fbuild+7"],
    ['report id:"ci 7" team=sales', "search=report&metadata.team=sales&jobId=ci+7"],
    ["id:ci/build 7 team:sales", "metadata.team=sales&jobId=ci%2Fbuild+7"],
    ["team:sales", "metadata.team=sales"],
    ["team=a:b url=https://x/?y=z", "metadata.team=a%3Ab&metadata.url=https%3A%2F%2Fx%2F%3Fy%3Dz"],
    ["https://x/y 12: =", "search=https%3A%2F%2Fx%2Fy+12%3A+%3D"],
    ["status:running status=completed", "status=running&status=completed"],
    ["status:stale", "stale=true"],
    ["status:open metadata.status=failed", "metadata.status=open&metadata.status=failed"],
    ["name:Nightly", "name=Nightly"],
    ['report team="sales and more" a.b=1', "search=report&metadata.team=sales+and+more&metadata.a.b=1"],
    ['"a=b"', "search=a%3Db"],
    ['"say ""hi"""', "search=say+%22hi%22"],
    ["  ", ""],
    ["team=", ""],
    ["report id:", "search=report"],
  ];
  for (const [text, search] of texts) {
    it(`converts ${JSON.stringify(text)} to the query ${JSON.stringify(search)}`, () => {
      expect(withSearch(query("created=1h"), parseSearch(text)).toString()).to.equal(
        ["created=1h", search].filter(Boolean).join("&"),
      );
    });
  }

  it("parses the field's text for any words back to the same words", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(...'ab:=/" id\t') }), (words) => {
        expect(parseSearch(wordsText(words))).to.deep.equal({ words, terms: [] });
      }),
    );
  });

  it("shows each filter but the words as a chip, adds none twice, and removes one alone", () => {
    const place = query("search=a&status=failed&metadata.a=1&metadata.a=2&jobId=x&stale=false&created=1h&other=1");

    const terms = termsOf(place);
    const chips = terms.map(termText);
    const again = withSearch(place, { words: "a", terms });

    expect(chips).to.deep.equal(["status: failed", "a = 1", "a = 2", "id: x", "not stale"]);
    expect(again.toString()).to.equal(place.toString());
    expect(withoutTerm(query("metadata.a=1&metadata.a=2"), ["metadata.a", "1"]).toString()).to.equal("metadata.a=2");
    expect(withoutState(place).toString()).to.equal("search=a&metadata.a=1&metadata.a=2&jobId=x&created=1h&other=1");
  });

  const titles: [search: string, title: string][] = [
    ["metadata.team=sales&search=repo", "No jobs with metadata.team = sales whose name contains “repo”"],
    [
      "status=failed&search=a+b&jobId=ci",
      "No failed jobs whose name contains “a” and “b” and whose id begins with “ci”",
    ],
    ["stale=true&created=1h", "No stale jobs of the last hour"],
  ];
  for (const [search, title] of titles) {
    it(`says of an empty list: ${title}`, () => {
      expect(emptyTitle(query(search))).to.equal(title);
    });
  }

  it("suggests states, and the keys and values of the metadata of loaded rows", () => {
    const rows = [{ metadata: { team: "sales" } }, { metadata: { team: "a b" } }, { metadata: { team: "a b" } }, {}];

    expect(suggestions("report tea", rows)).to.deep.equal(['report team="a b"', "report team=sales"]);
    expect(suggestions("team:sa", rows)).to.deep.equal(["team=sales"]);
    expect(suggestions('team="a', rows)).to.deep.equal(['team="a b"']);
    expect(suggestions("status:f", rows)).to.deep.equal(["status:failed"]);
    expect(suggestions("report ", rows)).to.deep.equal([]);
  });

  it("passes only valid parameters to the API, and converts a time span to a start", () => {
    const place = query("status=failed&status=nonsense&stale=true&created=24h&name=&metadata.a=1&metadata.a=2&other=1");

    expect(toFilter(place, NOW)).to.deep.equal({
      status: ["failed"],
      stale: true,
      createdFrom: "2026-11-20T12:00:00.000Z",
      metadata: { a: ["1", "2"] },
    });
  });
});
