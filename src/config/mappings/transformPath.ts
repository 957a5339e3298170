import { realpathSync, statSync } from "node:fs";
import { extname, isAbsolute, relative, resolve, sep } from "node:path";

const EXTENSIONS: readonly string[] = [".js", ".mjs", ".cjs", ".ts", ".mts"];

/** `path` is the real path, without symbolic links. `reason` is a sentence. */
export type ResolvedTransform =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly reason: string };

/**
 * Resolves the file of a transform module. After symbolic links are followed it must lie in `dir` (hooks.transformsDir).
 * @param module the name in the mapping: relative to `dir`, or absolute
 */
export function resolveTransform(dir: string, module: string): ResolvedTransform {
  const name = JSON.stringify(module);
  const refuse = (reason: string) => ({ ok: false, reason }) as const;
  const root = realPath(dir);
  if (!root.path) return refuse(`hooks.transformsDir ${fault(root.code)}: ${dir}`);
  const requested = resolve(root.path, module);
  const real = realPath(requested);
  if (!real.path) {
    if (!isWithin(root.path, requested)) return refuse(outside(name));
    return refuse(`The transform module ${name} ${fault(real.code)} in hooks.transformsDir.`);
  }
  if (!isWithin(root.path, real.path)) {
    return refuse(
      isWithin(root.path, requested)
        ? `The transform module ${name} is a link out of hooks.transformsDir.`
        : outside(name),
    );
  }
  const stats = statSync(real.path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return refuse(`The transform module ${name} is a directory: name a file in it.`);
  if (!stats?.isFile()) return refuse(`The transform module ${name} is not a file.`);
  if (!EXTENSIONS.includes(extname(real.path))) {
    return refuse(`The transform module ${name} must end in one of ${EXTENSIONS.join(", ")}.`);
  }
  return { ok: true, path: real.path };
}

const outside = (name: string) => `The transform module ${name} lies outside hooks.transformsDir.`;

function isWithin(root: string, path: string): boolean {
  const steps = relative(root, path);
  return steps !== ".." && !steps.startsWith(`..${sep}`) && !isAbsolute(steps);
}

function realPath(path: string): { path: string; code?: undefined } | { path?: undefined; code: unknown } {
  try {
    return { path: realpathSync.native(path) };
  } catch (error) {
    return { code: (error as NodeJS.ErrnoException).code };
  }
}

function fault(code: unknown): string {
  return code === "ENOENT" || code === "ENOTDIR" ? "does not exist" : `cannot be looked up (${code})`;
}
