import type { Middleware } from "koa";
import type { Queues } from "../shared/queue/producer.ts";
import { mapBodyError } from "./middleware/body.ts";

export const BOARD_PATH = "/queues";

/** Allows the inline styles of the board's page, but not the fonts that it would load from another host. */
const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:"],
  ...["connect-src 'self'", "font-src 'self'", "base-uri 'self'", "frame-ancestors 'none'", "form-action 'self'"],
].join("; ");

/** Maximum size of a body in bytes; the limit of the board's own parser. */
const BODY_LIMIT = 1_048_576;

/**
 * Returns middleware that serves bull-board (https://github.com/felixmosh/bull-board) under `BOARD_PATH`. Loads it at the
 * first request: with its dependencies, it needs more memory than the rest of a web process.
 * @param basePath the path that the service is served below, which the board's pages contain
 */
export function queueBoard(queues: Queues, basePath: string): Middleware {
  let loading: Promise<Middleware> | undefined;
  return async (ctx, next) => {
    ctx.state.operation = BOARD_PATH;
    loading ??= loadBoard(queues, basePath);
    const board = await loading;
    ctx.set("Content-Security-Policy", POLICY);
    // The board answers every error with 500, so middleware behind it must run outside of it.
    let isHandled = true;
    const markUnhandled = async () => {
      isHandled = false;
    };
    await board(ctx, markUnhandled).catch(rejectBody);
    if (!isHandled) await next();
  };
}

/** Replaces the errors of the board's parser, whose messages quote the body. */
function rejectBody(error: { status?: number; type?: string }): never {
  if (error.status !== undefined && error.status < 500) throw mapBodyError(error, BODY_LIMIT);
  throw error;
}

async function loadBoard(queues: Queues, basePath: string): Promise<Middleware> {
  const [{ createBullBoard }, { BullMQAdapter }, { KoaAdapter }] = await Promise.all([
    import("@bull-board/api"),
    import("@bull-board/api/bullMQAdapter"),
    import("@bull-board/koa"),
  ]);
  const serverAdapter = new KoaAdapter().setBasePath(basePath + BOARD_PATH);
  createBullBoard({
    queues: queues.all.map((queue) => new BullMQAdapter(queue)),
    serverAdapter,
    options: { uiConfig: { boardTitle: "Signalbox queues", hideRedisDetails: true, showWorkers: false } },
  });
  return serverAdapter.registerPlugin({ mount: BOARD_PATH }) as unknown as Middleware;
}
