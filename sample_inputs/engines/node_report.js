// Sends states to `epic listen 9870`, and writes them to a file that `epic inspect` reads.
// Rotations are quaternions x, y, z, w, as in three.js and Babylon.js: both y up, three.js
// right-handed (--read 'axes="zxy),"' Babylon.js left-handed (--read 'axes=xzy).'
const dgram = require("node:dgram");
const fs = require("node:fs");

class Reporter {
  constructor({ host = "127.0.0.1", port = 9870, file } = {}) {
    this.udp = dgram.createSocket("udp4");
    this.target = [port, host];
    this.file = file && fs.createWriteStream(file); // as game.jsonl
  }

  report(entity, time, { x, y, z }, rotation) {
    const state = { entity, time, x, y, z };
    if (rotation) {
      Object.assign(state, { qx: rotation.x, qy: rotation.y, qz: rotation.z, qw: rotation.w });
    }
    const line = JSON.stringify(state) + "\n";
    this.udp.send(line, ...this.target);
    this.file?.write(line);
  }

  // Only after the last datagram has left: a callback, or a moment later.
  close() {
    this.udp.close();
    this.file?.end();
  }
}

module.exports = { Reporter };
