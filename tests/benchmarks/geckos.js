// The snapshots of a recording through geckos.io's own library, a row every 50 ms:
//     NODE_PATH=FOLDER/node_modules node geckos.js FILE
const { SnapshotInterpolation } = require("@geckos.io/snapshot-interpolation");

let now = 0;
SnapshotInterpolation.Now = () => now;
const buffer = new SnapshotInterpolation(10);
let tick = 0;
let rows = [];
for (const line of require("node:fs").readFileSync(process.argv[2], "utf8").split("\n")) {
  if (!line) continue;
  const [x, y, z, , , , t] = line.split(/[,/]/).map(Number);
  for (; tick <= t; tick += 0.05) {
    now = tick * 1000;
    const drawn = buffer.calcInterpolation("x y z");
    if (!drawn) continue;
    const { x, y, z } = drawn.state[0];
    rows.push(`pos: ${x.toFixed(2)},${y.toFixed(2)},${z.toFixed(2)}  time: ${tick.toFixed(3)}\n`);
  }
  if (rows.length > 4096) {
    process.stdout.write(rows.join(""));
    rows = [];
  }
  now = t * 1000;
  buffer.snapshot.add({ id: String(t), time: now, state: [{ id: "one", x, y, z }] });
}
process.stdout.write(rows.join(""));
