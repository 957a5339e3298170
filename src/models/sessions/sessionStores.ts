import type { MainEvents } from "./mainEvent.ts";
import type { Messages } from "./message.ts";
import type { Sessions } from "./session.ts";

/** The collections of sessions with their queries. */
export interface SessionStores {
  readonly sessions: Sessions;
  readonly messages: Messages;
  readonly mainEvents: MainEvents;
}
