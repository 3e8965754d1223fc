// A game that reports by sample_inputs/engines/rust_report.rs; ENGINES is its folder.
include!(concat!(env!("ENGINES"), "/rust_report.rs"));
fn main() {
    let given: Vec<String> = std::env::args().collect();
    let place = format!("127.0.0.1:{}", given[1]);
    let mut reporter = Reporter::new(&place, Some(&given[2])).unwrap();
    for n in 0..12 {
        let (x, half) = (n as f32, 0.05 * n as f32);
        let turn = [0.0, half.sin(), 0.0, half.cos()];
        reporter.report("tank", n as f64 / 20.0, [x, 2.0 * x, 3.0 * x], turn).unwrap();
    }
}
