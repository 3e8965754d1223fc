// buffer: a delay buffer of parts: stamps, clock, delay, curve, catch-up, low-pass
//
// A buffer of states: the entity is drawn in the past, between two states that were received.
//
// drawn time = now - offset of the clocks - delay
// drawn      = before + (after - before) * (drawn time - before.time) / (after.time - before.time)
//
// Clocks: time (s) is read from the sender's clock, arrival and now (s) from the receiver's.
// Source: the delay buffers that games write themselves; formulas in the description
// Made by: epic code buffer+stamps=arrival+delay=0.1 --lang rust --rotations --main
// rustc -O rust_port.rs
// epic check --builtin -s buffer+stamps=arrival+delay=0.1 --atol 1e-9 --against './rust_port'
//
// 0BSD: use it as you like, without any warranty.

type Real = f64;
const DELAY: f64 = 0.1;  // s, how far in the past to draw
const KEEP: i64 = 1024;  // the largest number of states kept

#[derive(Clone, Copy, Default)]
pub struct Vec3 { pub x: f64, pub y: f64, pub z: f64 }
#[derive(Clone, Copy, Default)]
pub struct Quat { pub x: f64, pub y: f64, pub z: f64, pub w: f64 }
impl std::ops::Add for Vec3 {
    type Output = Vec3;
    fn add(self, o: Vec3) -> Vec3 { Vec3 { x: self.x + o.x, y: self.y + o.y, z: self.z + o.z } }
}
impl std::ops::Mul<f64> for Vec3 {
    type Output = Vec3;
    fn mul(self, s: f64) -> Vec3 { Vec3 { x: self.x * s, y: self.y * s, z: self.z * s } }
}

/// A received state, on the time axis of the buffer.
#[derive(Clone, Copy)]
struct State {
    time: f64,  // s
    position: Vec3,
    rotation: Quat,
}

/// An entity, drawn from a buffer of its states.
#[derive(Default)]
pub struct Smoothing {
    pub position: Vec3,  // what is drawn
    drawn: bool,  // something has been drawn
    states: Vec<State>,  // in order of time
    begun: bool,  // a packet was taken
    newest: f64,  // the newest timestamp
    stamp: f64,  // when its state was true
    pub rotation: Quat,  // what is drawn
}

impl Smoothing {
    pub fn new() -> Smoothing {
        let mut made = Smoothing::default();
        made.reset();
        made
    }

    /// Forget the past.
    pub fn reset(&mut self) {
        self.states.clear();
        self.begun = false;
        self.drawn = false;
    }

    /// Take a packet (finite numbers, times in s); return false if it is late, and dropped.
    pub fn receive(&mut self, time: f64, arrival: f64, position: Vec3, rotation: Quat) -> bool {
        if self.begun && time <= self.newest {
            return false;
        }
        self.stamp = arrival;
        self.states.push(State { time: self.stamp, position, rotation });
        if self.states.len() as i64 > KEEP {
            self.states.remove(0);
        }
        self.newest = time;
        self.begun = true;
        true
    }

    /// Take a packet of an entity that was moved on purpose.
    pub fn teleport(&mut self, time: f64, arrival: f64, position: Vec3, rotation: Quat) {
        if !self.begun || time >= self.newest {
            self.reset();
            self.receive(time, arrival, position, rotation);
            self.show(position, rotation);
            self.position = position;
            self.rotation = rotation;
        }
    }

    /// Draw a position.
    fn show(&mut self, position: Vec3, rotation: Quat) {
        self.position = position;
        self.rotation = rotation;
        self.drawn = true;
    }

    /// Move `position` to where it is drawn at `now`.
    ///
    /// Return false before the first packet.
    pub fn draw(&mut self, now: f64) -> bool {
        if !self.begun {
            return false;
        }
        self.place(now - DELAY);
        self.drawn
    }

    /// Draw the buffer's state at a time.
    fn place(&mut self, time: f64) {
        let last: i64 = self.states.len() as i64 - 1;
        let mut i: i64 = last;
        while i >= 0 && self.states[i as usize].time > time {
            i -= 1;
        }
        if i < 0 {
            self.show(self.states[0].position, self.states[0].rotation);
        } else if i < last {
            self.interpolate(i, time);
        } else {
            self.ahead();
        }
    }

    /// Draw between a state and the next.
    fn interpolate(&mut self, i: i64, time: f64) {
        let a: State = self.states[i as usize];
        let b: State = self.states[(i + 1) as usize];
        let u: f64 = (time - a.time) / (b.time - a.time);
        let drawn: Vec3 = a.position * (1.0 - u) + b.position * u;
        self.show(drawn, self.slerp(a.rotation, b.rotation, u));
    }

    /// Draw the state this long after the newest one.
    fn ahead(&mut self) {
        let newest: State = self.states[(self.states.len() as i64 - 1) as usize];
        self.show(newest.position, newest.rotation);
    }

    /// Turn from one rotation to another, the shorter way at a constant rate (Shoemake 1985).
    fn slerp(&self, a: Quat, b: Quat, u: f64) -> Quat {
        let cosine: f64 = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
        let angle: f64 = f64::acos(f64::min(f64::abs(cosine), 1.0));
        let mut p: f64 = 1.0 - u;
        let mut q: f64 = u;
        if angle > 1.0e-06 {
            p = f64::sin((1.0 - u) * angle) / f64::sin(angle);
            q = f64::sin(u * angle) / f64::sin(angle);
        }
        if cosine < 0.0 {
            q = -q;
        }
        Quat { x: a.x * p + b.x * q, y: a.y * p + b.y * q, z: a.z * p + b.z * q, w: a.w * p + b.w * q }
    }
}
// Packet text in, rows out, by arrival times or frames.
#[allow(dead_code)]
struct Packet {
    time: f64,
    arrival: f64,
    position: Vec3,
    velocity: Vec3,
    rotation: Quat,
    entity: String,
    moved: bool,
}

fn numbers(text: &str) -> Vec<f64> {
    text.split(',').map(|word| word.trim().parse().unwrap()).collect()
}

fn vec3(text: &str) -> Vec3 {
    let n = numbers(text);
    Vec3 { x: n[0] as Real, y: n[1] as Real, z: n[2] as Real }
}

fn read(line: &str) -> Packet {
    let parts: Vec<&str> = line.splitn(3, '/').collect();
    let words: Vec<&str> = parts[2].split_whitespace().collect();
    let more = |key: &str| words[1..].iter().find_map(|word| word.strip_prefix(key));
    let q = numbers(more("rotation=").unwrap_or("0,0,0,1"));
    Packet {
        time: words[0].parse().unwrap(),
        arrival: more("arrival=").unwrap_or(words[0]).parse().unwrap(),
        position: vec3(parts[0]),
        velocity: vec3(parts[1]),
        rotation: Quat { x: q[0], y: q[1], z: q[2], w: q[3] },
        entity: more("entity=").unwrap_or("").to_string(),
        moved: more("teleport=") == Some("1"),
    }
}

fn main() {
    let tick = std::env::var("EPIC_TICK").unwrap_or("1/20".to_string());
    let by_frame = std::env::var("EPIC_PACING").is_ok_and(|pacing| pacing == "frame");
    let ratio: Vec<f64> = tick.split('/').map(|part| part.parse().unwrap()).collect();
    let lines = std::io::stdin().lines().map(Result::unwrap);
    let mut packets: Vec<Packet> =
        lines.filter(|line| !line.trim().is_empty()).map(|line| read(&line)).collect();
    packets.sort_by(|a, b| a.arrival.partial_cmp(&b.arrival).unwrap()); // it keeps the order of equals
    println!("time\tentity\tx\ty\tz\tqx\tqy\tqz\tqw");
    let mut players: Vec<(String, Smoothing)> = Vec::new();
    let mut taken = 0;
    if packets.is_empty() {
        return;
    }
    let end = packets[packets.len() - 1].arrival + 0.15;
    let mut k = (packets[0].arrival * ratio[1] / ratio[0]).floor() as i64 - 1;
    while k as f64 * ratio[0] / ratio[1] <= end {
        let now = k as f64 * ratio[0] / ratio[1];
        while taken < packets.len() && packets[taken].arrival <= now {
            let packet = &mut packets[taken];
            taken += 1;
            if by_frame {
                packet.arrival = now;
            }
            let index = players.iter().position(|(name, _)| *name == packet.entity).unwrap_or_else(|| {
                players.push((packet.entity.clone(), Smoothing::new()));
                players.len() - 1
            });
            let player = &mut players[index].1;
            if packet.moved {
                player.teleport(packet.time as Real, packet.arrival as Real, packet.position, packet.rotation);
            } else {
                player.receive(packet.time as Real, packet.arrival as Real, packet.position, packet.rotation);
            }
        }
        for (name, player) in players.iter_mut() {
            if player.draw(now as Real) {
                let p = player.position;
                print!("{}\t{}\t{}\t{}\t{}", now, name, p.x, p.y, p.z);
                let q = player.rotation;
                print!("\t{}\t{}\t{}\t{}", q.x, q.y, q.z, q.w);
                println!();
            }
        }
        k += 1;
    }
}
