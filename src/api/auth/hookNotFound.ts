import type { Context } from "koa";
import { BUILT_IN_HOOKS } from "../../config/mappings/mapping.ts";
import type { Mapping } from "../../hooks/mappings/mapping.ts";
import { AppError } from "../../shared/errors.ts";
import { nearest } from "../../shared/text/nearest.ts";
import { publicPath } from "../middleware/basePath.ts";

/** Creates the errors of requests to hooks that do not exist. */
export class HookNotFound {
  readonly #basePath: string;
  readonly #names: readonly string[];

  /** @param basePath the configured `hooks.path` */
  constructor(basePath: string, mappings: readonly Mapping[]) {
    this.#basePath = basePath;
    this.#names = [...BUILT_IN_HOOKS, ...mappings.flatMap(({ match }) => match?.path ?? [])];
  }

  /** Returns the error about a name without a hook. Only a request with the hook token receives the name of another hook. */
  unknownName(ctx: Context): AppError {
    const name = ctx.path.slice(this.#basePath.length + 1);
    const known = ctx.state.byHookToken === true ? nearest(name, this.#names) : undefined;
    const hint = known === undefined ? "" : ` Did you mean ${publicPath(ctx, this.#basePath)}/${known}?`;
    return new AppError("hook_not_found", { detail: `There is no hook at ${publicPath(ctx)}.${hint}` });
  }

  /** Returns the error about a body that none of the mappings with its name matches. */
  unknownSource(ctx: Context): AppError {
    return new AppError("hook_not_found", {
      detail: `No mapping at ${publicPath(ctx)} matches the field source of the body: check match.source in hooks.mappings.`,
    });
  }
}
