import { realpathSync, statSync } from "node:fs";
import { extname, isAbsolute, relative, resolve, sep } from "node:path";

const EXTENSIONS: readonly string[] = [".js", ".mjs", ".cjs", ".ts", ".mts"];

/** `path` is the real one: no part of it is a symbolic link. `reason` is a sentence. */
export type ResolvedTransform =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly reason: string };

/**
 * The file of a transform module. Once symbolic links are followed it must lie in `dir` (hooks.transformsDir).
 * @param module as the mapping names it: relative to `dir`, or absolute
 */
export function resolveTransform(dir: string, module: string): ResolvedTransform {
  const name = JSON.stringify(module);
  const refuse = (reason: string) => ({ ok: false, reason }) as const;
  const root = realPath(dir);
  if (!root.path) return refuse(`hooks.transformsDir ${fault(root.code)}: ${dir}`);
  const asked = resolve(root.path, module);
  const real = realPath(asked);
  if (!real.path) {
    if (!isWithin(root.path, asked)) return refuse(outside(name));
    return refuse(`The transform module ${name} ${fault(real.code)} in hooks.transformsDir.`);
  }
  if (!isWithin(root.path, real.path)) {
    return refuse(
      isWithin(root.path, asked) ? `The transform module ${name} is a link out of hooks.transformsDir.` : outside(name),
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
  const way = relative(root, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function realPath(path: string): { path: string; code?: undefined } | { path?: undefined; code: unknown } {
  try {
    return { path: realpathSync.native(path) };
  } catch (error) {
    return { code: (error as NodeJS.ErrnoException).code };
  }
}

function fault(code: unknown): string {
  return code === "ENOENT" || code === "ENOTDIR" ? "is not there" : `cannot be looked up (${code})`;
}
