import type Router from "@koa/router";
import type { ChatAccess } from "../../config/channels/chatAccess.ts";
import { findQuestion } from "../../models/deliveries/questions.ts";
import { answerByButton } from "../../models/gates/answerByButton.ts";
import { readButtonData } from "../../shared/chatEvent.ts";
import { originOf } from "../auth/caller.ts";
import type { Refuse } from "../auth/refusals.ts";
import type { ApiDeps } from "../deps.ts";
import { ANSWER_PATH } from "../middleware/requestLog.ts";

/** The channel whose buttons are pressed by requests of phones. */
const CHANNEL = "ntfy";
const STATUSES = { answered: 200, changed: 409, hasForm: 409, closed: 409 } as const;

interface PressDeps {
  readonly stores: ApiDeps["stores"];
  readonly access: ChatAccess;
  readonly refuse: Refuse;
}

/**
 * Adds the address that the buttons of a message in ntfy post to. The random id of the buttons is the whole authority, and it
 * answers once: whoever reads the topic may press. ntfy's page in a browser is another site, which may read the response.
 */
export function mountPresses(router: Router, { stores, access, refuse }: PressDeps): void {
  const path = `${ANSWER_PATH}/press/:button`;
  router.post(path, async (ctx) => {
    ctx.state.operation = path;
    ctx.set({ "Cache-Control": "no-store", "Access-Control-Allow-Origin": "*" });
    const pressed = readButtonData(ctx.params.button);
    const asked =
      pressed && access.takesAnonymous(CHANNEL) ? await findQuestion(stores, { channel: CHANNEL, ...pressed }) : null;
    if (!pressed || !asked) {
      await refuse(ctx);
      ctx.status = 404;
      ctx.body = "This button belongs to no question that is known here.";
      return;
    }
    const { gateId, shown } = asked.question;
    const answeredBy = `${CHANNEL}:${asked.to}`;
    const caller = { actor: answeredBy, ...originOf(ctx) };
    const gate = await stores.gates.findById(gateId);
    const { kind, sentence } = await answerByButton(stores, gate, {
      action: pressed.action,
      shown,
      answeredBy,
      caller,
    });
    ctx.status = STATUSES[kind];
    ctx.body = sentence;
  });
}
