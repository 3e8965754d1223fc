// Unity: put it on what moves. Sends its transform to `epic listen --read axes=xzy 9870`, and writes it
// to a file that `epic inspect` reads. Unity is left-handed with y up, in metres, and quaternions
// have w last: --read axes=xzy puts z up and makes it right-handed, rotations too. For eulerAngles as
// yaw, pitch and roll (its y, x and z) add --read euler=unity.
using System.Globalization;
using System.IO;
using System.Net.Sockets;
using System.Text;
using UnityEngine;

public class EpicReport : MonoBehaviour
{
    public string host = "127.0.0.1";
    public int port = 9870;
    public string file = ""; // as game.jsonl

    UdpClient udp;
    StreamWriter writer;

    void OnEnable()
    {
        udp = new UdpClient(host, port);
        if (file != "") writer = new StreamWriter(file);
    }

    void FixedUpdate()
    {
        Vector3 p = transform.position;
        Quaternion q = transform.rotation;
        string line = string.Format(CultureInfo.InvariantCulture,
            "{{\"entity\":\"{0}\",\"time\":{1:R},\"x\":{2:R},\"y\":{3:R},\"z\":{4:R},"
            + "\"qx\":{5:R},\"qy\":{6:R},\"qz\":{7:R},\"qw\":{8:R} }}\n",
            name, Time.timeAsDouble, p.x, p.y, p.z, q.x, q.y, q.z, q.w);
        byte[] bytes = Encoding.UTF8.GetBytes(line);
        try { udp.Send(bytes, bytes.Length); }
        catch (SocketException) { } // no listener is running yet
        if (writer != null) writer.Write(line);
    }

    void OnDisable()
    {
        udp.Close();
        if (writer != null) writer.Dispose();
    }
}
