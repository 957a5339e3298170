import { NOTIFICATIONS, subjectName } from "../../shared/notifications/catalogue.ts";
import { sanitizeText } from "../../shared/text/sanitizeText.ts";
import type { Notification } from "./notification.ts";

/** Maximum characters of a name in a title. */
const MAX_NAME_LENGTH = 100;

/**
 * Returns the title of a notification as plain text on one line, for services that show one: a subject, or the head of a
 * message.
 */
export function notificationTitle({ type, data }: Pick<Notification, "type" | "data">): string {
  const name = sanitizeText(subjectName(type, data)).replace(/\s+/g, " ").trim();
  const short = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH).toWellFormed()}…` : name;
  return `${short} ${NOTIFICATIONS[type].title}`;
}

/** Returns the title of the summary of several notifications. */
export const summaryTitle = (count: number): string => (count === 1 ? "1 more event" : `${count} more events`);
