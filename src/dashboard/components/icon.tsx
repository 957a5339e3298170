/** Paths in a square of 16 by 16, stroked in the colour of the text. */
const SHAPES = {
  running: "M8 1.75a6.25 6.25 0 1 0 6.25 6.25",
  completed: "M3.5 8.5l3 3 6-7",
  failed: "M4 4l8 8M12 4l-8 8",
  queued: "M8 4v4l2.5 2M8 1.75a6.25 6.25 0 1 0 .01 0",
  dropped: "M3 13L13 3M8 1.75a6.25 6.25 0 1 0 .01 0",
  warn: "M8 2L1.5 13.5h13zM8 6.5v3.2M8 11.4v.2",
  sun: "M8 5a3 3 0 1 0 .01 0M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  moon: "M13.5 9.5A6 6 0 1 1 6.5 2.5a4.8 4.8 0 0 0 7 7z",
  auto: "M8 1.75a6.25 6.25 0 1 0 .01 0M8 2v12M8.5 5h3.5M8.5 8h5.3M8.5 11h3.5",
  help: "M5.8 6a2.2 2.2 0 1 1 3.3 1.9c-.8.5-1.1.9-1.1 1.9M8 12v.2M8 1.5a6.5 6.5 0 1 0 .01 0",
  out: "M6 2H2.5v12H6M6.5 8H14M11 5l3 3-3 3",
  copy: "M5.5 5.5h8v8h-8zM3 10.5H2.5v-8h8V3",
  download: "M8 2v8M4.8 7L8 10.2 11.2 7M2.5 13.5h11",
  retry: "M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3",
  again: "M4.5 3v10l8-5z",
  cancel: "M4 4l8 8M12 4l-8 8",
  trash: "M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.7 9h6.6l.7-9M6.7 7v4M9.3 7v4",
  back: "M9.5 3L4.5 8l5 5",
  next: "M6.5 3l5 5-5 5",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  more: "M3 7.6a.4.4 0 1 0 .01 0M8 7.6a.4.4 0 1 0 .01 0M13 7.6a.4.4 0 1 0 .01 0",
  up: "M8 13V3M4 7l4-4 4 4",
  bell: "M3.5 11.5h9l-1.2-2V7a3.3 3.3 0 0 0-6.6 0v2.5zM6.7 13.7h2.6",
  search: "M7 2.5a4.5 4.5 0 1 0 .01 0M10.3 10.3L14 14",
} as const;

export type IconName = keyof typeof SHAPES;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class={`icon icon-${name}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={SHAPES[name]} />
    </svg>
  );
}
