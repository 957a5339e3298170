import type { Context } from "koa";
import { BUILT_IN_HOOKS } from "../../config/mappings/mapping.ts";
import { hookName, type Mapping } from "../../hooks/mappings/mapping.ts";
import { AppError } from "../../shared/errors.ts";
import { nearest } from "../../shared/text/nearest.ts";
import { publicPath } from "../middleware/basePath.ts";

/**
 * Returns the error about a name without a hook. Only a request with the hook token receives the name of another hook.
 * @param basePath the configured `hooks.path`
 */
export function unknownHook(ctx: Context, basePath: string, mappings: readonly Mapping[]): AppError {
  const names = [...BUILT_IN_HOOKS, ...mappings.flatMap(({ match }) => match?.path ?? [])];
  const known = ctx.state.byHookToken === true ? nearest(hookName(basePath, ctx.path), names) : undefined;
  const hint = known === undefined ? "" : ` Did you mean ${publicPath(ctx, basePath)}/${known}?`;
  return new AppError("hook_not_found", { detail: `There is no hook at ${publicPath(ctx)}.${hint}` });
}
