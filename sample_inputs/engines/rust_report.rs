// Sends states to `epic listen 9870`, and writes them to a file that `epic inspect` reads.
// Rotations are quaternions x, y, z, w, as `Quat::to_array` of glam gives them; Bevy is
// right-handed, y up: `epic listen --read axes=zxy 9870`.
use std::fs::File;
use std::io::{BufWriter, Result, Write};
use std::net::UdpSocket;

pub struct Reporter {
    udp: UdpSocket,
    file: Option<BufWriter<File>>,
}

impl Reporter {
    /// `target` is "127.0.0.1:9870", `file` as "game.jsonl".
    pub fn new(target: &str, file: Option<&str>) -> Result<Self> {
        let udp = UdpSocket::bind("0.0.0.0:0")?;
        udp.connect(target)?;
        let file = file.map(File::create).transpose()?.map(BufWriter::new);
        Ok(Self { udp, file })
    }

    pub fn report(&mut self, entity: &str, time: f64, p: [f32; 3], q: [f32; 4]) -> Result<()> {
        let ([x, y, z], [qx, qy, qz, qw]) = (p, q);
        let line = format!(
            "{{\"entity\":{entity:?},\"time\":{time},\"x\":{x},\"y\":{y},\"z\":{z},\
             \"qx\":{qx},\"qy\":{qy},\"qz\":{qz},\"qw\":{qw}}}\n"
        );
        let _ = self.udp.send(line.as_bytes()); // an error: no listener is running yet
        match &mut self.file {
            Some(file) => file.write_all(line.as_bytes()),
            None => Ok(()),
        }
    }
}
