import { readFileSync } from "node:fs";
import { expect } from "chai";

/** Questions of new users, with the page that answers each, the heading, and words of the answer. */
const QUESTIONS: readonly [question: string, page: string, heading: string, answer: string][] = [
  ["How do I track a first job?", "tutorials/first-job", "2. Create a job and report a step", "curl"],
  [
    "How do I get notified when a job fails?",
    "how-to/get-notified-when-a-job-fails",
    "Send a first message",
    "job.failed",
  ],
  [
    "How do I notice that my cron job did not run?",
    "how-to/get-notified-when-a-job-fails",
    "When a job does not even begin",
    "expect",
  ],
  ["How do I verify your webhooks in Node?", "how-to/verify-webhooks", "Node", "timingSafeEqual"],
  ["My hook answers 401. Why?", "how-to/debug-a-failed-run", "A hook answers 401", "token"],
  ["How do I retry a run?", "how-to/debug-a-failed-run", "Retry a run", "runs retry"],
  ["Nothing arrives in Telegram. Why?", "how-to/debug-a-failed-run", "Nothing arrives in the chat", "deliveries"],
  ["How do I wait for the reply?", "how-to/wait-for-a-job", "Wait for the reply of an agent", "Prefer: wait"],
  ["How do I ask a person?", "how-to/ask-a-person", "Ask in a program", "job.gate"],
  ["Why is my job stale?", "how-to/debug-a-failed-run", "A job is stale", "staleAfterSeconds"],
  ["How do I go on after a crash?", "how-to/report-from-an-orchestrator", "Continue a job after a crash", "completed"],
  ["How do I connect Ollama?", "how-to/set-up-an-agent", "Use a model server", "Ollama"],
  ["How do I receive GitHub's webhooks?", "how-to/map-a-sender", "GitHub", "secret"],
  ["How do I serve it over TLS?", "how-to/put-tls-in-front", "TLS with a proxy", "nginx"],
  ["How do I back it up?", "how-to/back-up", "Your own MongoDB", "mongodump"],
  ["How do I change a token?", "how-to/rotate-secrets", "A secret in the file", "Write a new value"],
];

const read = (page: string) => readFileSync(`docs/${page}.md`, "utf8");

describe("a question of a new user", () => {
  for (const [question, page, heading, answer] of QUESTIONS) {
    it(`is answered on a page that the index links: ${question}`, () => {
      const [, section = ""] = read(page).split(new RegExp(`^##+ ${heading.replace(/[.]/g, "\\.")}$`, "m"));

      expect(read("index")).to.include(`](${page}.md`);
      expect(section.split(/^## /m)[0]).to.include(answer);
    });
  }
});
