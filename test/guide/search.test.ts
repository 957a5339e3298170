import { expect } from "chai";
import { Docs } from "../../src/api/guide/docs.ts";
import { SearchIndex } from "../../src/api/guide/search.ts";
import { readBuiltFiles } from "../../src/api/pages/builtFiles.ts";

const docs = new Docs(readBuiltFiles("docs"));

/** Questions as readers type them, and where the answer is. */
const QUESTIONS: readonly [query: string, answer: string][] = [
  ["parallel steps progress", "how-to/report-from-an-orchestrator#parallel-steps"],
  ["retry a failed job", "how-to/report-from-an-orchestrator#retry-a-failed-job"],
  ["change the port", "how-to/operate#change-the-port"],
  ["backup", "how-to/back-up"],
  ["restore", "how-to/back-up"],
  ["share link job", "how-to/use-the-dashboard#share-a-link"],
  ["401 github", "how-to/debug-a-failed-run#a-hook-answers-401"],
  ["rate limit 429", "how-to/debug-a-failed-run#the-model-server-answers-429"],
  ["test a webhook without sending", "how-to/map-a-sender#try-a-mapping-without-sending"],
  ["job stale after minutes", "how-to/debug-a-failed-run#a-job-is-stale"],
  ["delete old jobs", "how-to/operate#how-long-jobs-are-kept"],
  ["several web processes", "how-to/scale-out"],
  ["disk full", "how-to/operate#the-disk-is-full"],
  ["windows", "how-to/deploy#which-systems-it-runs-on"],
  ["postgres", "how-to/deploy#which-systems-it-runs-on"],
  ["airflow", "how-to/report-from-airflow"],
  ["how long are jobs kept", "how-to/operate#how-long-jobs-are-kept"],
  ["cancel", "how-to/cancel-a-job"],
  ["wait", "how-to/wait-for-a-job"],
  ["rotate token", "how-to/rotate-secrets"],
  ["telegram", "how-to/set-up-a-channel#telegram"],
  ["ollama", "how-to/set-up-an-agent#use-a-model-server"],
  ["claude code", "how-to/set-up-an-agent#claude-code"],
  ["systemd", "how-to/deploy#systemd"],
  ["docker", "how-to/deploy#docker-compose"],
  ["nginx tls", "how-to/put-tls-in-front#tls-with-a-proxy"],
  ["upgrade", "how-to/upgrade"],
  ["webhook did nothing", "how-to/see-why-a-webhook-did-nothing"],
  ["wake the session when a job ends", "how-to/wake-claude-code"],
  ["healthchecks ping address", "how-to/report-backups"],
  ["dbt", "how-to/report-from-dbt"],
  ["gitlab pipeline", "how-to/report-from-gitlab"],
  ["job takes longer than usual", "how-to/notice-slow-jobs"],
  ["share a job without a log-in", "how-to/share-a-job"],
  ["badge", "how-to/share-a-job"],
  ["approve in slack", "how-to/answer-in-slack"],
  ["telegram buttons", "how-to/answer-in-telegram"],
  ["discord buttons", "how-to/answer-in-discord"],
  ["log in with keycloak", "how-to/log-in-with-keycloak"],
  ["entra groups", "how-to/log-in-with-entra"],
  ["watch tools of a run", "how-to/watch-a-run"],
  ["limit spending", "how-to/set-budgets"],
  ["opentelemetry", "how-to/send-traces"],
  ["openclaw", "how-to/move-from-openclaw"],
  ["several agents", "how-to/use-several-agents"],
  ["kubernetes cronjob", "how-to/report-kubernetes-cronjobs"],
  ["message that follows a job", "how-to/get-notified-when-a-job-fails#follow-a-job-in-one-message"],
  ["github actions", "how-to/report-from-github-actions"],
  ["where is the data stored", "how-to/operate#where-the-data-is"],
  ["how do I delete everything and start over", "how-to/operate#where-the-data-is"],
  ["uninstall", "how-to/operate#where-the-data-is"],
  ["where are the logs", "how-to/operate#read-the-log"],
  ["how do I stop the service", "how-to/operate#stop-the-service"],
  ["forgot the token", "how-to/use-the-dashboard#log-in"],
  ["how do I log in", "how-to/use-the-dashboard#log-in"],
  ["how do I set a password", "how-to/secure#tokens"],
  ["open to other computers", "how-to/secure#open-it-to-other-machines"],
  ["can two machines report to the same job", "how-to/report-from-an-orchestrator#parallel-steps"],
  ["how do I restart a failed job", "how-to/report-from-an-orchestrator#retry-a-failed-job"],
  ["limit cost of the agent", "how-to/set-budgets"],
  ["approve a deployment", "how-to/ask-a-person"],
];

/** Questions that the reference or an explanation answers. */
const LOOKED_UP: readonly [query: string, answer: string][] = [
  ["how many jobs can it handle", "explanation/performance"],
  ["what happens if redis goes down", "explanation/durability#what-happens-when-something-fails"],
  ["idempotency key", "reference/hooks#idempotency-keys"],
  ["log of a step", "reference/api#log-lines"],
  ["rename a job", "reference/api#jobs"],
  ["attach a file to a job", "reference/api#jobs"],
];

describe("a search in the guide", () => {
  for (const [query, answer] of QUESTIONS) {
    it(`finds ${answer} among the first two: ${query}`, async () => {
      const paths = (await docs.search(query)).map(({ path }) => path);
      const [page] = answer.split("#");

      // A question about a whole page is answered by any part of it.
      expect(paths.slice(0, 2)).to.satisfy((first: string[]) =>
        first.some((path) => path === answer || (answer === page && path.split("#")[0] === page)),
      );
      expect(paths[0]).to.match(/^(how-to|tutorials)\//);
    });
  }

  for (const [query, answer] of LOOKED_UP) {
    it(`finds ${answer} first: ${query}`, async () => {
      expect((await docs.search(query))[0]?.path).to.equal(answer);
    });
  }

  it("finds a name of the reference, also misspelt or by its beginning", async () => {
    for (const query of ["retention.completedAfter", "retenton completed", "reten compl"]) {
      const paths = (await docs.search(query)).map(({ path }) => path);

      expect([query, paths.includes("reference/configuration#retention")]).to.deep.equal([query, true]);
    }
  });

  const index = new SearchIndex();
  const page = { path: "a", title: "Keep it", heading: "Keep it", questions: [], code: [], boost: 1 };
  for (const path of "bcdef") index.add({ ...page, path, title: path, heading: path, texts: ["Another page."] });
  index.add({ ...page, texts: ["The first sentence. Entries are <b>deleted</b> after a day. The last."] });

  it("shows the sentence that fits, with the words in it marked and everything else escaped", () => {
    const [hit] = index.search("deleting");

    expect(hit?.excerpt.text).to.equal("Entries are &#60;b&#62;<mark>deleted</mark>&#60;/b&#62; after a day.");
  });

  it("cuts a long sentence around the first word", () => {
    const long = new SearchIndex();
    for (const path of "bcdef") long.add({ ...page, path, title: path, heading: path, texts: ["Another page."] });
    long.add({ ...page, texts: [`${"before ".repeat(60)}needle ${"after ".repeat(60)}`] });

    expect(long.search("needle")[0]?.excerpt.text).to.match(/^….{30,90}<mark>needle<\/mark>.{30,150}…$/);
  });

  it("finds nothing for a query without words", () => {
    for (const query of ["", "   ", "?!", "\u0000"]) expect(index.search(query)).to.deep.equal([]);
  });

  it("searches the first words of a long query only", () => {
    const filler = "no ".repeat(200);

    expect(index.search(`sentence ${filler}`)).to.have.length(1);
    expect(index.search(`${filler} sentence`)).to.deep.equal([]);
  });
});
