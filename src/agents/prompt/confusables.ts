/**
 * Characters of other scripts that look like the letters and signs of markers and control tokens. Each line has an ASCII
 * character and, in hexadecimal, the characters that look like it. Characters that NFKD already turns into the ASCII
 * character (full-width, mathematical, circled letters) are left out.
 * Source: confusables.txt of Unicode Technical Standard 39, version 17.0.0 (© 2025 Unicode, Inc., Unicode License v3):
 * every character whose prototype, without marks and in lower case, is one of `a` to `z`, `<`, `>`, `/`, `:`.
 */
const STANDARD = `
/ 1735 2041 2044 2215 2571 27cb 29f6 29f8 2cc6 2cc7 3033 30ce 31d3 4e3f 1d23a
: 2d0 2f8 589 5c3 703 704 903 a83 16ec 1803 1809 205a 2236 a4fd a789 11dd9
< 2c2 1438 16b2 2039 276e 1d236
> 2c3 1433 203a 276f 16f3f 1d237
a 251 391 3b1 410 430 13aa 15c5 2376 237a a4ee 102a0 16f40
b 180 182 183 184 253 392 411 412 42c 462 463 48c 48d 13cf 13f4 1472 1473 15af 15f7 2c82 a4d0 a7b4 10282 102a1 10301
b 16eb6
c a2 23c 3f2 3f9 421 441 4aa 4ab 1004 105a 13df 1d04 20a1 2ca4 2ca5 a4da abaf 102a2 10302 10415 1043d 1051c 118e9
c 118f2 1f16e 1f74c
d d0 110 111 189 18c 256 257 501 13a0 13e7 146f 15de 15ea 20ab a4d2 a4d3
e 246 247 395 415 435 4bd 4bf 13ac 212e 22ff 2d39 a4f0 ab32 10286 118a6 118ae
f 191 192 3dc 584 15b4 1d6e 1e9d a4dd a798 a799 ab35 10287 102a5 10525 118a2 118c2 1d213
g 18d 1e4 1e5 260 261 50c 581 13c0 13f3 1d83 a4d6
h 126 127 266 397 41d 45b 4a2 4bb 4c7 4c9 570 13bb 13c2 13f2 157c 1d78 2c67 2c8e a4e7 a695 102cf
i 131 268 269 26a 3b9 456 582 13a5 1d7b 1d7c 2373 2378 2c93 a647 ab75 118c3
j 248 249 37f 3f3 408 458 13ab 148d a4d9 a7b2
k 199 39a 41a 49a 49e 13e6 16d5 20ad 2c69 2c94 a4d7 a740 10518
l 141 142 196 197 19a 26b 26d 399 406 4c0 4cf 5d5 5df 627 661 673 6f1 7ca 13de 14aa 16c1 2c92 2cd0 a4e1 a4f2 1028a
l 10309 10320 1041b 10526 118a3 118b2 11dda 11de1 16eaa 16f16 16f28 1d22a 1e8c7
m 39c 3fa 41c 4cd 13b7 15f0 16d6 2c98 a4df 102b0 10311
n 14b 19d 19e 273 39d 3b7 572 578 57c 1d70 2c9a a4e0 1018e 10513
o d8 f8 19f 275 398 39f 3b8 3bf 3c3 3ed 41e 43e 472 473 4e8 4e9 555 585 5e1 647 665 6be 6c1 6d5 6f5 6ff 7c0 966 9e6
o a66 ae6 b20 b66 be6 c02 c66 c82 ce6 d02 d20 d66 d82 e50 ed0 1010 101d 1040 10d7 10ff 12d0 13be 13eb 17e0 1d0f 1d11
o 2296 229d 236c 2c90 2c91 2c9e 2c9f 2d31 2d41 2d54 3007 a4f3 a74a a74b ab3d ab3e ab74 ab8e abbb 10292 102ab 10404
o 1042c 104c2 104ea 10516 114d0 118b5 118c8 118d7 118e0 11de0 1d21a 1f714
p fe 1a5 1bf 3a1 3c1 3f8 420 440 13e2 146d 1d7d 2374 2ca2 2ca3 2cce 2ccf a4d1 10295
q 2a0 51b 563 566 2d55
r 1a6 24d 27c 27d 433 493 13a1 13d2 1587 1d26 1d72 2c85 a4e3 ab47 ab48 ab81 104b4 16f35 1d216
s 1bd 282 405 455 54f d1f 13d5 13da 1d74 a4e2 a731 abaa 10296 10420 10448 118c1 16f3a
t 166 167 1ad 1ae 23e 3a4 422 4ac 13a2 1d75 20ae 22a4 2361 27d9 2ca6 a4d4 10297 102b1 10315 118bc 16f0a 1f768
u 244 28b 3c5 45f 54d 57d 1200 13cc 144c 1d1c 1d7e 222a 22c3 a4f4 a79f ab4e ab52 ab9c 104ce 104f6 118b8 118d8 16f42
v 3bd 474 475 5d8 667 6f7 13d9 142f 1d20 2228 22c1 2d38 a4e6 a6df aba9 10197 1051d 11706 118a0 118c0 16f08 1d20d 1f708
w 26f 448 461 47d 51c 51d 561 13b3 13d4 1d21 20a9 2cbd a4ea a761 ab83 114c5 1170a 1170e 1170f 118e6 118ef
x d7 3a7 425 445 4b2 1541 157d 166d 166e 16b7 2573 292b 292c 2a2f 2a30 2cac 2d5d a4eb a7b3 10196 10290 102b4 10317
x 10322 10527 118ec
y a5 1b4 24e 24f 263 28f 3a5 3b3 423 443 4ae 4af 4b0 4b1 10e7 13a9 13bd 1d8c 1eff 2ca8 2ca9 a4ec ab5a 102b2 118a4
y 118dc 16f43
z 1b5 1b6 224 225 290 396 13c3 1d22 1d76 a4dc ab93 102f5 118a9 118c4 118e5
`;

/** Characters that the standard omits or lists under another prototype: small capitals, mirrored letters, brackets, bars. */
const ADDITIONAL = `
a 1d00
b 299
d 1d05 2202
e 1d07 25b 258 1dd 454 20ac 3a3 2211 39e 3be
f a730
g 262
h 29c
j 1d0a
k 1d0b
l 29f
m 1d0d
n 274 418 438
o 25cb 25cc 25e6 25ef 2b55 2b58
p 1d18
q a7af
r 280 42f 44f
t 1d1b
< 2329 276c 2770 27e8 29fc 3008 2af7 227a
> 232a 276d 2771 27e9 29fd 3009 2af8 227b
« ab 226a 22d8 27ea 300a
» bb 226b 22d9 27eb 300b
[ 300c 300e 2045 2772 2e28 27e6 298b 3010 3014 3016 3018 301a
] 300d 300f 2046 2773 2e29 27e7 298c 3011 3015 3017 3019 301b
| a6 1c0 5c0 2223 23ae 23d0 23fd 2502 2503 2506 2507 250a 250b 2758 2759 275a 2d4f ffe8
| 2016 2225 258e 258f 2595 23b8 23b9 4e28 fe31 fe33
# 22d5 2317 266f
- 2212 2796
_ 7fa 2581
`;

/** First of 26 letters without a decomposition in Unicode: negative circled, negative squared, regional indicators. */
const ALPHABETS = [0x1f150, 0x1f170, 0x1f1e6];

function parseTable(table: string): [string, string][] {
  const lines = table.trim().split("\n");
  return lines.flatMap((line) => {
    const [looksLike = "", ...codes] = line.split(" ");
    return codes.map((code): [string, string] => [String.fromCodePoint(Number.parseInt(code, 16)), looksLike]);
  });
}

const alphabets = ALPHABETS.flatMap((first) =>
  Array.from({ length: 26 }, (_, i): [string, string] => [
    String.fromCodePoint(first + i),
    String.fromCharCode(0x41 + i),
  ]),
);

/** Maps a character to the ASCII character (or `«`, `»` for doubled angle brackets) that it looks like. */
export const CONFUSABLES: ReadonlyMap<string, string> = new Map([
  ...parseTable(STANDARD),
  ...alphabets,
  ...parseTable(ADDITIONAL),
]);
