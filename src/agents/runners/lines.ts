const LINE_FEED = 0x0a;

/**
 * Returns a function that takes the output of a program in pieces and calls `onLine` with each line, without its line end.
 * A line longer than `maxBytes` is passed over, so that a program that prints none cannot fill the memory.
 */
export function lineReader(maxBytes: number, onLine: (line: string) => void): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let size = 0;
  const take = (piece: Buffer) => {
    size += piece.length;
    if (size <= maxBytes) pieces.push(piece);
    else pieces = [];
  };
  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      take(chunk.subarray(start, end));
      if (size <= maxBytes) onLine(Buffer.concat(pieces).toString());
      pieces = [];
      size = 0;
      start = end + 1;
    }
    // A copy, so that the large buffer behind a piece of it is freed.
    take(Buffer.from(chunk.subarray(start)));
  };
}
