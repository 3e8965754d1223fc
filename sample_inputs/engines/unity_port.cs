// Between the last two arrivals, a fixed time ago: a port for (dotnet run, or mcs and mono)
// epic check --builtin -s gambetta+update_rate=10 --feed csv --atol 1e-3 \
//     --against 'mono unity_port.exe'
// Vector3 and Quaternion are .NET's; UnityEngine's have Lerp and Slerp of the same meaning.
// Compile with: mcs -r:System.Numerics.dll unity_port.cs
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Numerics;

class State { public double Time, Arrival; public bool Teleport; public Vector3 Place; public Quaternion Turn; }

static class Port
{
    static void Main()
    {
        CultureInfo.CurrentCulture = CultureInfo.InvariantCulture;
        var settings = Environment.GetEnvironmentVariable("EPIC_SETTINGS").Split(' ')
            .Select(one => one.Split('=')).ToDictionary(one => one[0], one => one[1]);
        double delay = 1 / double.Parse(settings["update_rate"]); // seconds behind
        var tick = Environment.GetEnvironmentVariable("EPIC_TICK").Split('/').Select(double.Parse).ToArray();

        var names = (Console.ReadLine() ?? "").Split(',').ToList();
        var packets = new List<State>();
        for (string line; (line = Console.ReadLine()) != null;)
        {
            var cells = line.Split(',');
            Func<string, double> number = name =>
                names.Contains(name) && cells[names.IndexOf(name)] != "" ? double.Parse(cells[names.IndexOf(name)]) : 0;
            packets.Add(new State {
                Time = number("time"), Arrival = number("arrival"), Teleport = number("teleport") != 0,
                Place = new Vector3((float)number("x"), (float)number("y"), (float)number("z")),
                Turn = new Quaternion((float)number("qx"), (float)number("qy"), (float)number("qz"), (float)number("qw")) });
        }
        packets = packets.OrderBy(one => one.Arrival).ToList(); // it keeps the order of equals
        double end = packets.Count > 0 ? packets.Last().Arrival + 0.15 : -1, newest = double.MinValue, now;
        Console.WriteLine("time,x,y,z" + (names.Contains("qw") ? ",qx,qy,qz,qw" : ""));
        var states = new List<State>();
        State shown = null;
        for (int k = 0, taken = 0; (now = k * tick[0] / tick[1]) <= end; ++k)
        {
            for (; taken < packets.Count && packets[taken].Arrival <= now; ++taken)
            {
                if (packets[taken].Teleport) { states.Clear(); newest = double.MinValue; shown = packets[taken]; }
                if (packets[taken].Time > newest) { newest = packets[taken].Time; states.Add(packets[taken]); }
            }
            double at = now - delay;
            while (states.Count > 1 && states[1].Arrival <= at) states.RemoveAt(0);
            if (states.Count > 1 && states[0].Arrival <= at)
            {
                State a = states[0], b = states[1];
                float u = (float)((at - a.Arrival) / (b.Arrival - a.Arrival));
                shown = new State { Place = Vector3.Lerp(a.Place, b.Place, u), Turn = Quaternion.Slerp(a.Turn, b.Turn, u) };
            }
            if (shown == null) continue;
            Vector3 p = shown.Place;
            Quaternion q = shown.Turn;
            string turn = names.Contains("qw") ? string.Format(",{0:R},{1:R},{2:R},{3:R}", q.X, q.Y, q.Z, q.W) : "";
            Console.WriteLine("{0:R},{1:R},{2:R},{3:R}{4}", now, p.X, p.Y, p.Z, turn);
        }
    }
}
