// How often which error is drawn: the share of all rows by size, on a log axis.
function drawHistogram() {
  const { pen, width, height } = prepare($("histogram"));
  const shown = visible(), bins = scene().bins;
  const box = { left: 40, right: width - 8, top: 4, bottom: height - 18 };
  let [first, last, top] = [Infinity, -Infinity, 0.01];
  const shares = shown.map(({ histogram: { first: low, counts } }) => {
    const total = counts.reduce((a, b) => a + b, 0) || 1;
    counts.forEach((count, k) => {
      if (count / total < 0.0005) return;
      first = Math.min(first, low + k);
      last = Math.max(last, low + k + 1);
      top = Math.max(top, count / total);
    });
    return counts.map((count) => count / total);
  });
  if (!(first < last)) return;
  first = Math.max(first, last - 4 * bins);
  const toX = (k) => box.left + (k - first) / (last - first) * (box.right - box.left);
  const toY = (share) => box.bottom - share / (1.05 * top) * (box.bottom - box.top);
  gridAcross(pen, box, decades(10 ** (first / bins), 10 ** (last / bins)), (e) => toX(bins * Math.log10(e)));
  gridUp(pen, box, nice(0, 100 * top, 3).map(([value, text]) => [value, `${text} %`]), (percent) => toY(percent / 100));
  clip(pen, box, () => {
    shown.forEach((one, i) => {
      pen.strokeStyle = lineColor(one.label);
      pen.setLineDash(dashes(one.label));
      pen.lineWidth = 1.6;
      pen.beginPath();
      const low = one.histogram.first;
      pen.moveTo(toX(low), toY(0));
      shares[i].forEach((share, k) => {
        pen.lineTo(toX(low + k), toY(share));
        pen.lineTo(toX(low + k + 1), toY(share));
      });
      pen.lineTo(toX(low + shares[i].length), toY(0));
      pen.stroke();
    });
  });
  pen.setLineDash([]);
}
