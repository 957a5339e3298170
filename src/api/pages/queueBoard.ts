import type { Middleware } from "koa";
import { deliveryQueues } from "../../shared/queue/definitions.ts";
import type { Queues } from "../../shared/queue/producer.ts";
import { mapBodyError } from "../middleware/body.ts";
import { noticePage } from "./noticePage.ts";

export const BOARD_PATH = "/queues";

/** Allows the inline styles of the board's page. */
const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:"],
  ...["connect-src 'self'", "font-src 'self'", "base-uri 'self'", "frame-ancestors 'none'", "form-action 'self'"],
].join("; ");

/** The link in the board's page to fonts on another host, which a browser could not load. */
const FONTS = /<link [^>]*fonts\.googleapis\.com[^>]*>/;

/**
 * The command that installs the board, whose packages the npm package of Signalbox leaves out. The versions are the major ones of
 * package.json.
 */
export const INSTALL_BOARD = "npm install @bull-board/api@9 @bull-board/koa@9";

/** Maximum size of a body in bytes; the limit of the board's own parser. */
const BODY_LIMIT = 1_048_576;

/**
 * Returns middleware that serves bull-board (https://github.com/felixmosh/bull-board) under `BOARD_PATH`. Loads it at the
 * first request: with its dependencies, it needs more memory than the rest of a web process. Where it is not installed, a page
 * says how to install it.
 * @param basePath the path that the service is served below, which the board's pages contain
 * @param targets the channels whose queues are shown, and `webhook` if webhooks are sent
 */
export function queueBoard(queues: Queues, basePath: string, targets: readonly string[]): Middleware {
  let loading: Promise<Middleware> | undefined;
  return async (ctx, next) => {
    ctx.state.operation = BOARD_PATH;
    loading ??= loadBoard(queues, basePath, targets).catch(describeMissing);
    const board = await loading;
    ctx.set("Content-Security-Policy", POLICY);
    // The board answers every error with 500, so middleware behind it must run outside of it.
    let isHandled = true;
    const markUnhandled = async () => {
      isHandled = false;
    };
    await board(ctx, markUnhandled).catch(rejectBody);
    if (!isHandled) await next();
    else if (typeof ctx.body === "string") ctx.body = adjustPage(ctx.body, basePath);
  };
}

/**
 * Removes the link to fonts from the board's page, and adds a link back to the dashboard, for which the board has only a
 * menu.
 */
const adjustPage = (html: string, basePath: string): string =>
  html.replace(FONTS, "").replace(/<div id="root">/, `${linkBack(basePath)}$&`);

const linkBack = (basePath: string): string =>
  `<a href="${basePath}/settings" style="${LINK_STYLE}">Back to Signalbox</a>`;

const LINK_STYLE =
  "position:fixed;z-index:50;right:16px;bottom:16px;padding:10px 16px;border-radius:8px;background:#2453c4;color:#fff;font:500 14px sans-serif";

/** Replaces the errors of the board's parser, whose messages quote the body. */
function rejectBody(error: { status?: number; type?: string }): never {
  if (error.status !== undefined && error.status < 500) throw mapBodyError(error, BODY_LIMIT);
  throw error;
}

/** Returns middleware that says how to install the board. @throws the error if it has another cause */
function describeMissing(error: NodeJS.ErrnoException): Middleware {
  if (error.code !== "ERR_MODULE_NOT_FOUND" || !error.message.includes("@bull-board/")) throw error;
  const text = `<p>Run <code>${INSTALL_BOARD}</code> where Signalbox is installed, then restart the service.</p>`;
  return async (ctx) => {
    ctx.status = 503;
    ctx.type = "html";
    ctx.body = noticePage("The queue board is not installed", text);
  };
}

async function loadBoard(queues: Queues, basePath: string, targets: readonly string[]): Promise<Middleware> {
  const [{ createBullBoard }, { BullMQAdapter }, { KoaAdapter }] = await Promise.all([
    import("@bull-board/api"),
    import("@bull-board/api/bullMQAdapter"),
    import("@bull-board/koa"),
  ]);
  const serverAdapter = new KoaAdapter().setBasePath(basePath + BOARD_PATH);
  const hidden = deliveryQueues((target) => !targets.includes(target)).map(({ name }) => name);
  const shown = queues.all.filter(({ name }) => !hidden.includes(name));
  createBullBoard({
    queues: shown.map((queue) => new BullMQAdapter(queue)),
    serverAdapter,
    options: {
      uiConfig: {
        boardTitle: "Signalbox queues",
        hideDocsLink: true,
        hideRedisDetails: true,
        showWorkers: false,
      },
    },
  });
  return serverAdapter.registerPlugin({ mount: BOARD_PATH }) as unknown as Middleware;
}
