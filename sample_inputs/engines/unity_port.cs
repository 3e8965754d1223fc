// buffer: a delay buffer of parts: stamps, clock, delay, curve, catch-up, low-pass
//
// A buffer of states: the entity is drawn in the past, between two states that were received.
//
// drawn time = now - offset of the clocks - delay
// drawn      = before + (after - before) * (drawn time - before.time) / (after.time - before.time)
//
// Clocks: time (s) is read from the sender's clock, arrival and now (s) from the receiver's.
// Source: the delay buffers that games write themselves; formulas in the description
// Made by: epic code buffer+stamps=arrival+delay=0.1 --lang csharp --rotations --main
// mcs unity_port.cs
// epic check --builtin -s buffer+stamps=arrival+delay=0.1 --atol 1e-9 --against 'mono unity_port.exe'
//
// 0BSD: use it as you like, without any warranty.

using Real = System.Double;
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;

public struct Vec3 {
    public double X, Y, Z;
    public Vec3(double x, double y, double z) { X = x; Y = y; Z = z; }
    public static Vec3 operator +(Vec3 a, Vec3 b) => new Vec3(a.X + b.X, a.Y + b.Y, a.Z + b.Z);
    public static Vec3 operator *(Vec3 a, double s) => new Vec3(a.X * s, a.Y * s, a.Z * s);
}

public struct Quat {
    public double X, Y, Z, W;
    public Quat(double x, double y, double z, double w) { X = x; Y = y; Z = z; W = w; }
}

// A received state, on the time axis of the buffer.
public struct State {
    public double Time;  // s
    public Vec3 Position;
    public Quat Rotation;
}

// An entity, drawn from a buffer of its states.
public class Smoothing {
    const double Delay = 0.1;  // s, how far in the past to draw
    const int Keep = 1024;  // the largest number of states kept
    public Vec3 Position;  // what is drawn
    bool drawn;  // something has been drawn
    List<State> states = new List<State>();  // in order of time
    bool begun;  // a packet was taken
    double newest;  // the newest timestamp
    double stamp;  // when its state was true
    public Quat Rotation;  // what is drawn

    public Smoothing() { Reset(); }

    // Forget the past.
    public void Reset() {
        states.Clear();
        begun = false;
        drawn = false;
    }

    // Take a packet (finite numbers, times in s); return false if it is late, and dropped.
    public bool Receive(double time, double arrival, Vec3 position, Quat rotation) {
        if (begun && time <= newest) {
            return false;
        }
        stamp = arrival;
        states.Add(new State { Time = stamp, Position = position, Rotation = rotation });
        if (states.Count > Keep) {
            states.RemoveAt(0);
        }
        newest = time;
        begun = true;
        return true;
    }

    // Take a packet of an entity that was moved on purpose.
    public void Teleport(double time, double arrival, Vec3 position, Quat rotation) {
        if (!begun || time >= newest) {
            Reset();
            Receive(time, arrival, position, rotation);
            Show(position, rotation);
            Position = position;
            Rotation = rotation;
        }
    }

    // Draw a position.
    void Show(Vec3 position, Quat rotation) {
        Position = position;
        Rotation = rotation;
        drawn = true;
    }

    // Move position to where it is drawn at now.
    //
    // Return false before the first packet.
    public bool Draw(double now) {
        if (!begun) {
            return false;
        }
        Place(now - Delay);
        return drawn;
    }

    // Draw the buffer's state at a time.
    void Place(double time) {
        int last = states.Count - 1;
        int i = last;
        while (i >= 0 && states[i].Time > time) {
            i -= 1;
        }
        if (i < 0) {
            Show(states[0].Position, states[0].Rotation);
        } else if (i < last) {
            Interpolate(i, time);
        } else {
            Ahead();
        }
    }

    // Draw between a state and the next.
    void Interpolate(int i, double time) {
        State a = states[i];
        State b = states[i + 1];
        double u = (time - a.Time) / (b.Time - a.Time);
        Vec3 drawn = a.Position * (1.0 - u) + b.Position * u;
        Show(drawn, Slerp(a.Rotation, b.Rotation, u));
    }

    // Draw the state this long after the newest one.
    void Ahead() {
        State newest = states[states.Count - 1];
        Show(newest.Position, newest.Rotation);
    }

    // Turn from one rotation to another, the shorter way at a constant rate (Shoemake 1985).
    Quat Slerp(Quat a, Quat b, double u) {
        double cosine = a.X * b.X + a.Y * b.Y + a.Z * b.Z + a.W * b.W;
        double angle = Math.Acos(Math.Min(Math.Abs(cosine), 1.0));
        double p = 1.0 - u;
        double q = u;
        if (angle > 1.0e-06) {
            p = Math.Sin((1.0 - u) * angle) / Math.Sin(angle);
            q = Math.Sin(u * angle) / Math.Sin(angle);
        }
        if (cosine < 0.0) {
            q = -q;
        }
        return new Quat(a.X * p + b.X * q, a.Y * p + b.Y * q, a.Z * p + b.Z * q, a.W * p + b.W * q);
    }
}
// Packet text in, rows out, by arrival times or frames.
static class Program {
    class Packet {
        public double Time, Arrival;
        public Vec3 Position, Velocity;
        public Quat Rotation;
        public string Entity;
        public bool Moved;
    }

    static double[] Numbers(string text) => text.Split(',').Select(double.Parse).ToArray();

    static Vec3 Vector(string text) {
        var n = Numbers(text);
        return new Vec3((Real)n[0], (Real)n[1], (Real)n[2]);
    }

    static Packet Read(string line) {
        var parts = line.Split(new[] { '/' }, 3);
        var words = parts[2].Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries);
        Func<string, string, string> more = (key, otherwise) => {
            var word = words.FirstOrDefault(one => one.StartsWith(key + "="));
            return word == null ? otherwise : word.Substring(key.Length + 1);
        };
        var q = Numbers(more("rotation", "0,0,0,1"));
        return new Packet {
            Time = double.Parse(words[0]), Arrival = double.Parse(more("arrival", words[0])),
            Position = Vector(parts[0]), Velocity = Vector(parts[1]),
            Rotation = new Quat(q[0], q[1], q[2], q[3]),
            Entity = more("entity", ""), Moved = more("teleport", "0") == "1",
        };
    }

    static void Main() {
        CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        var tick = (Environment.GetEnvironmentVariable("EPIC_TICK") ?? "1/20").Split('/').Select(double.Parse).ToArray();
        bool byFrame = Environment.GetEnvironmentVariable("EPIC_PACING") == "frame";
        var packets = new List<Packet>();
        for (string line; (line = Console.ReadLine()) != null;)
            if (line.Trim() != "") packets.Add(Read(line.Trim()));
        packets = packets.OrderBy(packet => packet.Arrival).ToList(); // it keeps the order of equals
        Console.WriteLine("time\tentity\tx\ty\tz\tqx\tqy\tqz\tqw");
        var players = new Dictionary<string, Smoothing>();
        var names = new List<string>();
        int taken = 0;
        if (packets.Count == 0) return;
        double end = packets.Last().Arrival + 0.15;
        for (long k = (long)Math.Floor(packets[0].Arrival * tick[1] / tick[0]) - 1;; k++) {
            double now = k * tick[0] / tick[1];
            if (now > end) return;
            for (; taken < packets.Count && packets[taken].Arrival <= now; taken++) {
                var packet = packets[taken];
                if (byFrame) packet.Arrival = now;
                string name = packet.Entity;
                if (!players.ContainsKey(name)) { players[name] = new Smoothing(); names.Add(name); }
                if (packet.Moved) players[name].Teleport((Real)packet.Time, (Real)packet.Arrival, packet.Position, packet.Rotation);
                else players[name].Receive((Real)packet.Time, (Real)packet.Arrival, packet.Position, packet.Rotation);
            }
            foreach (var name in names)
                if (players[name].Draw((Real)now)) {
                    Vec3 p = players[name].Position;
                    Console.Write("{0:R}\t{1}\t{2:R}\t{3:R}\t{4:R}", now, name, (double)p.X, (double)p.Y, (double)p.Z);
                    Quat q = players[name].Rotation;
                    Console.Write("\t{0:R}\t{1:R}\t{2:R}\t{3:R}", q.X, q.Y, q.Z, q.W);
                    Console.WriteLine();
                }
        }
    }
}
