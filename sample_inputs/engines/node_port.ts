// buffer: a delay buffer of parts: stamps, clock, delay, curve, catch-up, low-pass
//
// A buffer of states: the entity is drawn in the past, between two states that were received.
//
// drawn time = now - offset of the clocks - delay
// drawn      = before + (after - before) * (drawn time - before.time) / (after.time - before.time)
//
// Clocks: time (s) is read from the sender's clock, arrival and now (s) from the receiver's.
// Source: the delay buffers that games write themselves; formulas in the description
// Made by: epic code buffer+stamps=arrival+delay=0.1 --lang typescript --rotations --main
// tsc --strict --target es2020 --module commonjs node_port.ts
// epic check --builtin -s buffer+stamps=arrival+delay=0.1 --atol 1e-9 --against 'node node_port.js'
//
// 0BSD: use it as you like, without any warranty.

const DELAY = 0.1;  // s, how far in the past to draw
const KEEP = 1024;  // the largest number of states kept
export type Vec3 = { x: number; y: number; z: number };
export type Quat = { x: number; y: number; z: number; w: number };
const add = (a: Vec3, b: Vec3): Vec3 => ({ x: a.x + b.x, y: a.y + b.y, z: a.z + b.z });
const scale = (a: Vec3, s: number): Vec3 => ({ x: a.x * s, y: a.y * s, z: a.z * s });

// A received state, on the time axis of the buffer.
type State = {
  time: number;  // s
  position: Vec3;
  rotation: Quat;
};

// An entity, drawn from a buffer of its states.
export class Smoothing {
  position: Vec3 = { x: 0.0, y: 0.0, z: 0.0 };  // what is drawn
  private drawn = false;  // something has been drawn
  private states: State[] = [];  // in order of time
  private begun = false;  // a packet was taken
  private newest = 0.0;  // the newest timestamp
  private stamp = 0.0;  // when its state was true
  rotation: Quat = { x: 0.0, y: 0.0, z: 0.0, w: 1.0 };  // what is drawn

  constructor() {
    this.reset();
  }

  // Forget the past.
  reset(): void {
    this.states.length = 0;
    this.begun = false;
    this.drawn = false;
  }

  // Take a packet (finite numbers, times in s); return false if it is late, and dropped.
  receive(time: number, arrival: number, position: Vec3, rotation: Quat): boolean {
    if (this.begun && time <= this.newest) {
      return false;
    }
    this.stamp = arrival;
    this.states.push({ time: this.stamp, position, rotation });
    if (this.states.length > KEEP) {
      this.states.shift();
    }
    this.newest = time;
    this.begun = true;
    return true;
  }

  // Take a packet of an entity that was moved on purpose.
  teleport(time: number, arrival: number, position: Vec3, rotation: Quat): void {
    if (!this.begun || time >= this.newest) {
      this.reset();
      this.receive(time, arrival, position, rotation);
      this.show(position, rotation);
      this.position = position;
      this.rotation = rotation;
    }
  }

  // Draw a position.
  private show(position: Vec3, rotation: Quat): void {
    this.position = position;
    this.rotation = rotation;
    this.drawn = true;
  }

  // Move position to where it is drawn at now.
  //
  // Return false before the first packet.
  draw(now: number): boolean {
    if (!this.begun) {
      return false;
    }
    this.place(now - DELAY);
    return this.drawn;
  }

  // Draw the buffer's state at a time.
  private place(time: number): void {
    const last = this.states.length - 1;
    let i = last;
    while (i >= 0 && this.states[i].time > time) {
      i -= 1;
    }
    if (i < 0) {
      this.show(this.states[0].position, this.states[0].rotation);
    } else if (i < last) {
      this.interpolate(i, time);
    } else {
      this.ahead();
    }
  }

  // Draw between a state and the next.
  private interpolate(i: number, time: number): void {
    const a = this.states[i];
    const b = this.states[i + 1];
    const u = (time - a.time) / (b.time - a.time);
    const drawn = add(scale(a.position, 1.0 - u), scale(b.position, u));
    this.show(drawn, this.slerp(a.rotation, b.rotation, u));
  }

  // Draw the state this long after the newest one.
  private ahead(): void {
    const newest = this.states[this.states.length - 1];
    this.show(newest.position, newest.rotation);
  }

  // Turn from one rotation to another, the shorter way at a constant rate (Shoemake 1985).
  private slerp(a: Quat, b: Quat, u: number): Quat {
    const cosine = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    const angle = Math.acos(Math.min(Math.abs(cosine), 1.0));
    let p = 1.0 - u;
    let q = u;
    if (angle > 1.0e-06) {
      p = Math.sin((1.0 - u) * angle) / Math.sin(angle);
      q = Math.sin(u * angle) / Math.sin(angle);
    }
    if (cosine < 0.0) {
      q = -q;
    }
    return { x: a.x * p + b.x * q, y: a.y * p + b.y * q, z: a.z * p + b.z * q, w: a.w * p + b.w * q };
  }
}
// Packet text in, rows out, by arrival times or frames (Node).
declare const module: any, process: any;
const [num, den] = (process.env.EPIC_TICK ?? "1/20").split("/").map(Number);
const byFrame = process.env.EPIC_PACING === "frame";
const lines: string[] = module.require("fs").readFileSync(0, "utf8").split("\n");
const packets = lines.filter((line) => line.trim()).map((line) => {
  const [place, speed, ...rest] = line.split("/");
  const [time, ...words] = rest.join("/").trim().split(/\s+/);
  const more = new Map(words.map((word) => [word.split("=")[0], word.slice(word.indexOf("=") + 1)]));
  const [x, y, z] = place.split(",").map(Number);
  const [vx, vy, vz] = speed.split(",").map(Number);
  const [qx, qy, qz, qw] = (more.get("rotation") ?? "0,0,0,1").split(",").map(Number);
  return {
    time: Number(time),
    arrival: Number(more.get("arrival") ?? time),
    position: { x, y, z },
    velocity: { x: vx, y: vy, z: vz },
    rotation: { x: qx, y: qy, z: qz, w: qw },
    entity: more.get("entity") ?? "",
    moved: more.get("teleport") === "1",
  };
});
packets.sort((a, b) => a.arrival - b.arrival); // it keeps the order of equals
const rows = [["time", "entity", "x", "y", "z", "qx", "qy", "qz", "qw"].join("\t")];
const players = new Map<string, Smoothing>();
let taken = 0;
const end = packets.length ? packets[packets.length - 1].arrival + 0.15 : 0;
for (let k = packets.length ? Math.floor((packets[0].arrival * den) / num) - 1 : 0; packets.length; k++) {
  const now = (k * num) / den;
  if (now > end) break;
  for (; taken < packets.length && packets[taken].arrival <= now; taken++) {
    const packet = packets[taken];
    if (byFrame) packet.arrival = now;
    const player = players.get(packet.entity) ?? new Smoothing();
    players.set(packet.entity, player);
    if (packet.moved) player.teleport(packet.time, packet.arrival, packet.position, packet.rotation);
    else player.receive(packet.time, packet.arrival, packet.position, packet.rotation);
  }
  players.forEach((player, name) => {
    if (!player.draw(now)) return;
    const { x, y, z } = player.position;
    const { x: qx, y: qy, z: qz, w: qw } = player.rotation;
    rows.push([now, name, x, y, z, qx, qy, qz, qw].join("\t"));
  });
}
console.log(rows.join("\n"));
