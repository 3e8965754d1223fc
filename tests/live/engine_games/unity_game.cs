// What of Unity the snippet uses, and a game.
using System.Reflection;
namespace UnityEngine {
    public struct Vector3 { public float x, y, z; }
    public struct Quaternion { public float x, y, z, w; }
    public class Transform { public Vector3 position; public Quaternion rotation; }
    public class MonoBehaviour {
        public string name;
        public Transform transform = new Transform();
    }
    public static class Time { public static double timeAsDouble; }
}
static class Game {
    static void Call(object it, string what) {
        var flags = BindingFlags.Instance | BindingFlags.NonPublic;
        it.GetType().GetMethod(what, flags).Invoke(it, null);
    }
    static void Main(string[] args) {
        var it = new EpicReport { name = "tank", port = int.Parse(args[0]), file = args[1] };
        Call(it, "OnEnable");
        for (int n = 0; n < 12; ++n) {
            UnityEngine.Time.timeAsDouble = n / 20.0;
            it.transform.position = new UnityEngine.Vector3 { x = n, y = 2 * n, z = 3 * n };
            it.transform.rotation = new UnityEngine.Quaternion {
                y = (float)System.Math.Sin(0.05 * n), w = (float)System.Math.Cos(0.05 * n) };
            Call(it, "FixedUpdate");
        }
        Call(it, "OnDisable");
    }
}
