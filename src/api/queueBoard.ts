import type { Middleware } from "koa";
import type { Queues } from "../shared/queue/producer.ts";
import { namedBodyError } from "./middleware/body.ts";

export const BOARD_PATH = "/queues";

/** The board's page has styles and a style sheet's address of its own; the fonts that it would load elsewhere stay away. */
const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:"],
  ...["connect-src 'self'", "font-src 'self'", "base-uri 'self'", "frame-ancestors 'none'", "form-action 'self'"],
].join("; ");

/** The largest body that the board's own parser takes. */
const BODY_LIMIT = 1_048_576;

/**
 * The queues for operators (https://github.com/felixmosh/bull-board), under `BOARD_PATH`. It is loaded when somebody first
 * looks: with what it needs it is larger than the rest of a web process.
 */
export function queueBoard(queues: Queues): Middleware {
  let loading: Promise<Middleware> | undefined;
  return async (ctx, next) => {
    ctx.state.operation = BOARD_PATH;
    loading ??= loadBoard(queues);
    const board = await loading;
    ctx.set("Content-Security-Policy", POLICY);
    // What it does not know goes on outside of it: it makes 500 of every error, of ours too.
    let isKnown = true;
    const pass = async () => {
      isKnown = false;
    };
    await board(ctx, pass).catch(nameRefusal);
    if (!isKnown) await next();
  };
}

/** What its parser says of a body that it refuses, quotes the body. */
function nameRefusal(error: { status?: number; type?: string }): never {
  if (error.status !== undefined && error.status < 500) throw namedBodyError(error, BODY_LIMIT);
  throw error;
}

async function loadBoard(queues: Queues): Promise<Middleware> {
  const [{ createBullBoard }, { BullMQAdapter }, { KoaAdapter }] = await Promise.all([
    import("@bull-board/api"),
    import("@bull-board/api/bullMQAdapter"),
    import("@bull-board/koa"),
  ]);
  const serverAdapter = new KoaAdapter().setBasePath(BOARD_PATH);
  createBullBoard({
    queues: queues.all.map((queue) => new BullMQAdapter(queue)),
    serverAdapter,
    options: { uiConfig: { boardTitle: "Signalbox queues", hideRedisDetails: true, showWorkers: false } },
  });
  return serverAdapter.registerPlugin() as unknown as Middleware;
}
