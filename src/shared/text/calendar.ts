/** Whether a date or time that begins with YYYY-MM-DD exists: `Date` alone reads 2026-02-30 as the second of March. */
export function isTime(text: string): boolean {
  const day = text.slice(0, 10);
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(Date.parse(text)) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}
