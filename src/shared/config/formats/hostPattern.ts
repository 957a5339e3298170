/** The pattern of an entry in a list of hosts: a name, an IP address, or `*.` and a name for everything below it. */
export const HOST_PATTERN =
  "^(\\*\\.)?[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*(:[0-9]{1,5})?$|^\\[[0-9A-Fa-f:.]+\\](:[0-9]{1,5})?$";
