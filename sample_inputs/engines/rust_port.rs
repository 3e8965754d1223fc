// Between the last two arrivals, a fixed time ago: a port for (rustc -O rust_port.rs)
// epic check --builtin -s gambetta+update_rate=10 --feed csv --atol 1e-9 --against ./rust_port
use std::collections::{HashMap, VecDeque};
use std::io::{stdin, BufRead};

#[derive(Clone)]
struct State { time: f64, arrival: f64, place: Vec<f64>, turn: Vec<f64>, teleport: bool }

fn lerp(a: &[f64], b: &[f64], u: f64) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + (b - a) * u).collect()
}

fn slerp(a: &[f64], b: &[f64], u: f64) -> Vec<f64> {
    let cosine: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    let angle = cosine.abs().min(1.0).acos();
    if angle < 1e-6 { return b.to_vec(); }
    let (p, q) = (((1.0 - u) * angle).sin() / angle.sin(), (u * angle).sin() / angle.sin());
    let q = q.copysign(cosine); // the shorter way
    a.iter().zip(b).map(|(a, b)| p * a + q * b).collect()
}

fn main() {
    let settings = std::env::var("EPIC_SETTINGS").unwrap();
    let settings: HashMap<_, _> = settings.split(' ').filter_map(|s| s.split_once('=')).collect();
    let delay = 1.0 / settings["update_rate"].parse::<f64>().unwrap(); // seconds behind
    let tick = std::env::var("EPIC_TICK").unwrap();
    let (num, den) = tick.split_once('/').unwrap();
    let (num, den): (f64, f64) = (num.parse().unwrap(), den.parse().unwrap());

    let mut lines = stdin().lock().lines().map(Result::unwrap);
    let header = lines.next().unwrap_or_default();
    let names: Vec<&str> = header.split(',').collect();
    let turns = names.contains(&"qw");
    let mut packets: Vec<State> = lines.map(|line| {
        let cells: HashMap<_, _> = names.iter().copied().zip(line.split(',')).collect();
        let number = |name: &&str| cells[*name].parse().unwrap_or(0.0);
        State { time: number(&"time"), arrival: number(&"arrival"), teleport: cells["teleport"] == "1",
                place: ["x", "y", "z"].iter().map(number).collect(),
                turn: ["qx", "qy", "qz", "qw"].iter().filter(|_| turns).map(number).collect() }
    }).collect();
    packets.sort_by(|a, b| a.arrival.total_cmp(&b.arrival));
    let end = packets.last().map_or(-1.0, |last| last.arrival + 0.15);
    println!("time,x,y,z{}", if turns { ",qx,qy,qz,qw" } else { "" });

    let (mut states, mut newest, mut shown) = (VecDeque::<State>::new(), f64::MIN, Vec::new());
    let mut packets = packets.into_iter().peekable();
    for now in (0..).map(|k| k as f64 * num / den).take_while(|now| *now <= end) {
        while let Some(packet) = packets.next_if(|one| one.arrival <= now) {
            if packet.teleport {
                (newest, shown) = (f64::MIN, [&packet.place[..], &packet.turn].concat());
                states.clear();
            }
            if packet.time > newest {
                newest = packet.time;
                states.push_back(packet);
            }
        }
        let at = now - delay;
        while states.len() > 1 && states[1].arrival <= at { states.pop_front(); }
        if states.len() > 1 && states[0].arrival <= at {
            let (a, b) = (&states[0], &states[1]);
            let u = (at - a.arrival) / (b.arrival - a.arrival);
            shown = [lerp(&a.place, &b.place, u), slerp(&a.turn, &b.turn, u)].concat();
        }
        if !shown.is_empty() {
            let cells: Vec<String> = shown.iter().map(f64::to_string).collect();
            println!("{now},{}", cells.join(","));
        }
    }
}
