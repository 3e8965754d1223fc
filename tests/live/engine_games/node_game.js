// A game that reports by sample_inputs/engines/node_report.js, which NODE_PATH leads to.
const { Reporter } = require("node_report.js");
const reporter = new Reporter({ port: Number(process.argv[2]), file: process.argv[3] });
for (let n = 0; n < 12; ++n) {
  const [y, w] = [Math.sin(0.05 * n), Math.cos(0.05 * n)];
  reporter.report("tank", n / 20, { x: n, y: 2 * n, z: 3 * n }, { x: 0, y, z: 0, w });
}
setTimeout(() => reporter.close(), 200);
