// Boats on a lake: a game's server and client in one program, and the network between them.
//
//     tsc --target es2020 --module commonjs boats.ts && node boats.js
//
// It writes what the client received (net.csv) and what it drew (draw.csv), in the game's own words:
// milliseconds, pixels, degrees. Each run is the same.
declare function require(name: string): any;
const { writeFileSync } = require("fs");

let seed = 12345;
function random(): number {
  seed = (seed * 1103515245 + 12345) % 2147483648;
  return seed / 2147483648;
}

// ------------------------------------------------------------------ the server: 15 snapshots a second

interface Boat { name: string; x: number; y: number; heading: number; speed: number; turn: number }

const boats: Boat[] = [
  { name: "red", x: 400, y: 360, heading: 0, speed: 90, turn: 20 },
  { name: "blue", x: 800, y: 360, heading: 120, speed: 120, turn: -20 },
];

function steer(seconds: number): void {
  for (const boat of boats) {
    if (random() < 0.05) boat.turn = (random() - 0.5) * 160;
    if (random() < 0.02) boat.speed = 60 + random() * 120;
    if (boat.x < 100 || boat.x > 1180 || boat.y < 100 || boat.y > 620) {
      const home = Math.atan2(360 - boat.y, 640 - boat.x) * 180 / Math.PI;
      boat.turn = ((home - boat.heading + 540) % 360 - 180) * 2;
    }
    boat.heading = (boat.heading + boat.turn * seconds + 360) % 360;
    boat.x += Math.cos(boat.heading * Math.PI / 180) * boat.speed * seconds;
    boat.y += Math.sin(boat.heading * Math.PI / 180) * boat.speed * seconds;
  }
}

// ------------------------------------------------------------------ the client

// What tutorials teach: to the newest snapshot, in the time between the last two.
class RemoteBoat {
  x = 0;
  y = 0;
  private from = { x: 0, y: 0 };
  private to = { x: 0, y: 0 };
  private since = -1;
  private duration = 66;

  onSnapshot(_sent: number, now: number, x: number, y: number): void {
    if (this.since < 0) [this.x, this.y] = [x, y];
    else this.duration = Math.max(now - this.since, 1);
    this.from = { x: this.x, y: this.y };
    this.to = { x, y };
    this.since = now;
  }

  draw(now: number): void {
    const t = Math.min((now - this.since) / this.duration, 1);
    this.x = this.from.x + (this.to.x - this.from.x) * t;
    this.y = this.from.y + (this.to.y - this.from.y) * t;
  }
}

// ------------------------------------------------------------------ 30 seconds of it

interface Snapshot { at: number; sent: number; boats: { name: string; x: number; y: number; deg: number }[] }

const net = ["got_ms,sent_ms,boat,px,py,deg"];
const drawn = ["frame_ms,boat,draw_x,draw_y"];
const remote: { [name: string]: RemoteBoat } = {};
const wire: Snapshot[] = [];
let now = 800; // performance.now() of the page
let clock = now; // of the server's ticks
let newest = 0;
for (let frame = 0; frame < 60 * 30; frame++) {
  now += 1000 / 60 + (random() - 0.5) * 2;
  for (; clock <= now; clock += 1000 / 60) {
    steer(1 / 60);
    if (Math.round(clock * 60 / 1000) % 4 || random() < 0.02) continue; // no snapshot, or a lost one
    const delay = 45 + random() * 30 + (random() < 0.1 ? random() * 90 : 0);
    const sent = 1731000000000 + Math.round(clock); // Date.now() of the server
    wire.push({ at: clock + delay, sent, boats: boats.map(({ name, x, y, heading }) => (
      { name, x: +x.toFixed(1), y: +y.toFixed(1), deg: +heading.toFixed(1) }
    )) });
  }
  wire.sort((a, b) => a.at - b.at);
  while (wire.length && wire[0].at <= now) {
    const { at, sent, boats: states } = wire.shift()!;
    if (sent <= newest) continue;
    newest = sent;
    for (const { name, x, y, deg } of states) {
      net.push([at.toFixed(1), sent, name, x, y, deg].join());
      remote[name] = remote[name] || new RemoteBoat();
      remote[name].onSnapshot(sent, at, x, y);
    }
  }
  for (const [name, boat] of Object.entries(remote)) {
    boat.draw(now);
    drawn.push([now.toFixed(1), name, boat.x.toFixed(2), boat.y.toFixed(2)].join());
  }
}
writeFileSync("net.csv", net.join("\n") + "\n");
writeFileSync("draw.csv", drawn.join("\n") + "\n");
