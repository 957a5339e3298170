import type { Access, Job, Step } from "../../client/client.ts";

/** The answers of the API that the service has put into the document, by the names of `FIRST_READS`. */
interface FirstAnswers {
  session: Access;
  jobs: { readonly jobs: Job[]; readonly nextCursor: string | null };
  job: Job;
  urgent: { readonly steps: Step[] };
  completed: { readonly steps: Step[] };
}

const answers: Partial<FirstAnswers> = JSON.parse(document.getElementById("first")?.textContent || "{}");

/** Returns an answer that came with the document, once: it is soon out of date. */
export function takeFirst<Name extends keyof FirstAnswers>(name: Name): FirstAnswers[Name] | undefined {
  const answer = answers[name];
  delete answers[name];
  return answer;
}
