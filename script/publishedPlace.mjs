/**
 * The fields of published packages about the place of their sources. The place is known only in a workflow, whose
 * GITHUB_REPOSITORY is OWNER/NAME.
 */

const REPOSITORY = process.env.GITHUB_REPOSITORY;

/** Returns the fields of a manifest, which `npm publish --provenance` compares with the repository of the workflow. */
export function repositoryFields() {
  if (!REPOSITORY) return {};
  const url = `https://github.com/${REPOSITORY}`;
  return { repository: { type: "git", url: `git+${url}.git` }, homepage: `${url}#readme`, bugs: `${url}/issues` };
}

/**
 * Makes the relative links and pictures of a page absolute, as files of the version's tag: most of them are not in the
 * package.
 * @param {string} text @param {string} version
 */
export function withAbsoluteLinks(text, version) {
  if (!REPOSITORY) return text;
  return text.replaceAll(/(!?)(\[[^\]]*\]\()(?![a-z]+:|#)([^)\s]+)/g, (_, picture, label, path) => {
    const [host, kind] = picture ? ["raw.githubusercontent.com", ""] : ["github.com", "blob/"];
    return `${picture}${label}https://${host}/${REPOSITORY}/${kind}v${version}/${path}`;
  });
}
