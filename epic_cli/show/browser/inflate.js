// Unpacks what is deflated (RFC 1951): a page is one file, and browsers unpack by themselves only
// what they are served, or later than a page is drawn.
function inflate(packed) {
  let [room, size, at, bits, held] = [new Uint8Array(4 * packed.length), 0, 0, 0, 0];
  const need = (more) => {
    if (size + more <= room.length) return;
    const larger = new Uint8Array(2 * (room.length + more));
    larger.set(room);
    room = larger;
  };
  const take = (count) => {
    while (held < count) {
      bits |= packed[at++] << held;
      held += 8;
    }
    const value = bits & ((1 << count) - 1);
    bits >>>= count;
    held -= count;
    return value;
  };
  // By the next bits, the longest code's count of them: which symbol they begin with, and its length.
  const codes = (lengths) => {
    const longest = Math.max(...lengths);
    const found = new Uint16Array(1 << longest);
    let code = 0;
    for (let length = 1; length <= longest; length++, code <<= 1)
      lengths.forEach((own, symbol) => {
        if (own !== length) return;
        let turned = 0;
        for (let k = 0; k < length; k++) turned |= ((code >> k) & 1) << (length - 1 - k);
        code++;
        for (let k = turned; k < found.length; k += 1 << length) found[k] = (symbol << 4) | length;
      });
    return { found, longest };
  };
  const symbol = ({ found, longest }) => {
    while (held < longest && at < packed.length) {
      bits |= packed[at++] << held;
      held += 8;
    }
    const entry = found[bits & (found.length - 1)];
    bits >>>= entry & 15;
    held -= entry & 15;
    return entry >> 4;
  };
  const scale = (first, extra) => {
    let value = first;
    return extra.map((count) => {
      const one = [value, count];
      value += 1 << count;
      return one;
    });
  };
  const steps = (count, each, quiet) =>
    Array.from({ length: count }, (_, k) => Math.max(0, Math.floor((k - quiet) / each)));
  const lengths = scale(3, steps(28, 4, 4));
  lengths.push([258, 0]);
  const ways = scale(1, steps(30, 2, 2));
  const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
  const usual = [
    codes([
      ...Array(144).fill(8),
      ...Array(112).fill(9),
      ...Array(24).fill(7),
      ...Array(8).fill(8),
    ]),
    codes(Array(30).fill(5)),
  ];
  const given = () => {
    const [literals, distances, own] = [take(5) + 257, take(5) + 1, take(4) + 4];
    const first = Array(19).fill(0);
    for (let k = 0; k < own; k++) first[ORDER[k]] = take(3);
    const about = codes(first);
    const all = [];
    while (all.length < literals + distances) {
      const next = symbol(about);
      if (next < 16) all.push(next);
      else if (next === 16) all.push(...Array(3 + take(2)).fill(all.at(-1)));
      else all.push(...Array(next === 17 ? 3 + take(3) : 11 + take(7)).fill(0));
    }
    return [codes(all.slice(0, literals)), codes(all.slice(literals))];
  };
  for (let last = false; !last; ) {
    last = take(1) === 1;
    const kind = take(2);
    if (kind === 0) {
      at -= held >> 3;
      [bits, held] = [0, 0];
      const length = packed[at] | (packed[at + 1] << 8);
      need(length);
      room.set(packed.subarray(at + 4, at + 4 + length), size);
      [at, size] = [at + 4 + length, size + length];
      continue;
    }
    const [literals, distances] = kind === 1 ? usual : given();
    for (let next = symbol(literals); next !== 256; next = symbol(literals)) {
      need(258);
      if (next < 256) {
        room[size++] = next;
        continue;
      }
      const [base, extra] = lengths[next - 257];
      const length = base + take(extra);
      const [far, more] = ways[symbol(distances)];
      const from = far + take(more);
      for (let k = 0; k < length; k++, size++) room[size] = room[size - from];
    }
  }
  return room.slice(0, size);
}
