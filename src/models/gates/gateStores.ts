import type { JobStores } from "../jobs/jobStores.ts";
import type { AnswerLinks } from "./answerLinks.ts";
import type { Gates } from "./gates.ts";

/** The collection of gates with its queries, and those of their jobs. */
export interface GateStores extends JobStores {
  readonly gates: Gates;
  /** The links with which people answer gates without a log-in. */
  readonly answerLinks: AnswerLinks;
}
