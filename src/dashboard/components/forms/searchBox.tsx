interface SearchBoxProps {
  readonly label: string;
  readonly text: string;
  readonly setText: (text: string) => void;
}

/** A field for words to look for within what a page shows. */
export function SearchBox({ label, text, setText }: SearchBoxProps) {
  return (
    <input
      class="end"
      type="search"
      aria-label={label}
      placeholder="Search"
      value={text}
      onInput={({ currentTarget }) => setText(currentTarget.value)}
    />
  );
}
