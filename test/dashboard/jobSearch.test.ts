import { expect } from "chai";
import fc from "fast-check";
import { parseSearch, searchText, toFilter, withSearch } from "../../src/dashboard/data/jobSearch.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const query = (text: string) => new URLSearchParams(text);

describe("dashboard search of jobs", () => {
  const texts: [text: string, search: string][] = [
    ["nightly import", "name=nightly+import"],
    ["id:ci/7", "jobId=ci%2F7"],
    ['id:"ci 7"', "jobId=ci+7"],
    ["team=sales", "metadata.team=sales"],
    ['report team="sales and more" a.b=1', "name=report&metadata.team=sales+and+more&metadata.a.b=1"],
    ['"a=b"', "name=a%3Db"],
    ['"say ""hi"""', "name=say+%22hi%22"],
    ["  ", ""],
    ["team=", ""],
  ];
  for (const [text, search] of texts) {
    it(`converts ${JSON.stringify(text)} to the query ${JSON.stringify(search)}`, () => {
      expect(withSearch(query("status=failed"), text).toString()).to.equal(
        ["status=failed", search].filter(Boolean).join("&"),
      );
    });
  }

  it("parses the text of any address back to the same search", () => {
    const text = fc.string({ minLength: 1, maxLength: 12, unit: fc.constantFrom(...'ab:=" id\t') });
    fc.assert(
      fc.property(
        fc.option(text, { nil: "" }),
        fc.option(text, { nil: "" }),
        fc.array(fc.tuple(fc.stringMatching(/^[a-z.]{1,8}$/), text), { maxLength: 2 }),
        (name, jobId, metadata) => {
          const place = query("");
          if (name) place.set("name", name);
          if (jobId) place.set("jobId", jobId);
          for (const [key, value] of metadata) place.append(`metadata.${key}`, value);

          expect(parseSearch(searchText(place))).to.deep.equal({ name, jobId, metadata });
        },
      ),
    );
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
