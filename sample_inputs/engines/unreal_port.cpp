// buffer: a delay buffer of parts: stamps, clock, delay, curve, catch-up, low-pass
//
// A buffer of states: the entity is drawn in the past, between two states that were received.
//
// drawn time = now - offset of the clocks - delay
// drawn      = before + (after - before) * (drawn time - before.time) / (after.time - before.time)
//
// Clocks: time (s) is read from the sender's clock, arrival and now (s) from the receiver's.
// Source: the delay buffers that games write themselves; formulas in the description
// Made by: epic code buffer+stamps=arrival+delay=0.1 --lang cpp --rotations --main
// g++ -std=c++17 -O2 -ffp-contract=off -o unreal_port unreal_port.cpp
// epic check --builtin -s buffer+stamps=arrival+delay=0.1 --atol 1e-9 --against './unreal_port'
//
// 0BSD: use it as you like, without any warranty.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using Real = double;

namespace smoothing_unreal_port {

constexpr double DELAY = 0.1;  // s, how far in the past to draw
constexpr int KEEP = 1024;  // the largest number of states kept
struct Vec3 { double x, y, z; };
struct Quat { double x, y, z, w; };
inline Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec3 operator*(Vec3 a, double s) { return {a.x * s, a.y * s, a.z * s}; }

// A received state, on the time axis of the buffer.
struct State {
    double time;  // s
    Vec3 position;
    Quat rotation;
};

// An entity, drawn from a buffer of its states.
class Smoothing {
public:
    Vec3 position{};  // what is drawn
    Quat rotation{};  // what is drawn

    Smoothing() { reset(); }

    // Forget the past.
    void reset() {
        states.clear();
        begun = false;
        drawn = false;
    }

    // Take a packet (finite numbers, times in s); return false if it is late, and dropped.
    bool receive(double time, double arrival, Vec3 position, Quat rotation) {
        if (begun && time <= newest) {
            return false;
        }
        stamp = arrival;
        states.push_back(State{stamp, position, rotation});
        if (int(states.size()) > KEEP) {
            states.erase(states.begin());
        }
        newest = time;
        begun = true;
        return true;
    }

    // Take a packet of an entity that was moved on purpose.
    void teleport(double time, double arrival, Vec3 position, Quat rotation) {
        if (!begun || time >= newest) {
            reset();
            receive(time, arrival, position, rotation);
            show(position, rotation);
            this->position = position;
            this->rotation = rotation;
        }
    }

    // Move position to where it is drawn at now.
    //
    // Return false before the first packet.
    bool draw(double now) {
        if (!begun) {
            return false;
        }
        place(now - DELAY);
        return drawn;
    }

private:
    bool drawn{};  // something has been drawn
    std::vector<State> states{};  // in order of time
    bool begun{};  // a packet was taken
    double newest{};  // the newest timestamp
    double stamp{};  // when its state was true

    // Draw a position.
    void show(Vec3 position, Quat rotation) {
        this->position = position;
        this->rotation = rotation;
        drawn = true;
    }

    // Draw the buffer's state at a time.
    void place(double time) {
        int last = int(states.size()) - 1;
        int i = last;
        while (i >= 0 && states[i].time > time) {
            i -= 1;
        }
        if (i < 0) {
            show(states[0].position, states[0].rotation);
        } else if (i < last) {
            interpolate(i, time);
        } else {
            ahead();
        }
    }

    // Draw between a state and the next.
    void interpolate(int i, double time) {
        State a = states[i];
        State b = states[i + 1];
        double u = (time - a.time) / (b.time - a.time);
        Vec3 drawn = a.position * (1.0 - u) + b.position * u;
        show(drawn, slerp(a.rotation, b.rotation, u));
    }

    // Draw the state this long after the newest one.
    void ahead() {
        State newest = states[int(states.size()) - 1];
        show(newest.position, newest.rotation);
    }

    // Turn from one rotation to another, the shorter way at a constant rate (Shoemake 1985).
    Quat slerp(Quat a, Quat b, double u) const {
        double cosine = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
        double angle = std::acos(std::min(std::abs(cosine), 1.0));
        double p = 1.0 - u;
        double q = u;
        if (angle > 1.0e-06) {
            p = std::sin((1.0 - u) * angle) / std::sin(angle);
            q = std::sin(u * angle) / std::sin(angle);
        }
        if (cosine < 0.0) {
            q = -q;
        }
        return Quat{a.x * p + b.x * q, a.y * p + b.y * q, a.z * p + b.z * q, a.w * p + b.w * q};
    }
};

}  // namespace smoothing_unreal_port

using namespace smoothing_unreal_port;

// Packet text in, rows out, by arrival times or frames.
struct Packet {
    double arrival, time;
    Vec3 position, velocity;
    Quat rotation;
    std::string entity;
    bool moved;
};

std::vector<double> numbers(const std::string& text) {
    std::vector<double> found;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');) found.push_back(std::strtod(word.c_str(), nullptr));
    found.resize(4);
    return found;
}

int main() {
    int num = 1, den = 20;
    if (const char* tick = std::getenv("EPIC_TICK")) std::sscanf(tick, "%d/%d", &num, &den);
    const char* pacing = std::getenv("EPIC_PACING");
    const bool by_frame = pacing && std::string(pacing) == "frame";
    std::vector<Packet> packets;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream parts(line);
        std::string position, velocity, word;
        std::getline(parts, position, '/');
        std::getline(parts, velocity, '/');
        if (!(parts >> word)) continue;
        std::vector<double> p = numbers(position), v = numbers(velocity);
        Packet packet{};
        packet.time = packet.arrival = std::strtod(word.c_str(), nullptr);
        packet.position = {Real(p[0]), Real(p[1]), Real(p[2])};
        packet.velocity = {Real(v[0]), Real(v[1]), Real(v[2])};
        packet.rotation = {0, 0, 0, 1};
        while (parts >> word) {
            std::string value = word.substr(word.find('=') + 1);
            if (word.rfind("arrival=", 0) == 0) packet.arrival = std::strtod(value.c_str(), nullptr);
            if (word.rfind("entity=", 0) == 0) packet.entity = value;
            if (word.rfind("teleport=", 0) == 0) packet.moved = value == "1";
            if (word.rfind("rotation=", 0) == 0) {
                std::vector<double> q = numbers(value);
                packet.rotation = {q[0], q[1], q[2], q[3]};
            }
        }
        packets.push_back(packet);
    }
    std::stable_sort(packets.begin(), packets.end(),
                     [](const Packet& a, const Packet& b) { return a.arrival < b.arrival; });
    std::vector<std::pair<std::string, Smoothing>> players;
    std::size_t taken = 0;
    std::puts("time\tentity\tx\ty\tz\tqx\tqy\tqz\tqw");
    if (packets.empty()) return 0;
    const double end = packets.back().arrival + 0.15;
    for (long k = long(std::floor(packets[0].arrival * den / num)) - 1;; ++k) {
        double now = double(k) * num / den;
        if (now > end) return 0;
        for (; taken < packets.size() && packets[taken].arrival <= now; ++taken) {
            Packet& packet = packets[taken];
            if (by_frame) packet.arrival = now;
            auto found = std::find_if(players.begin(), players.end(),
                                      [&](const auto& player) { return player.first == packet.entity; });
            if (found == players.end()) found = players.insert(found, {packet.entity, Smoothing()});
            if (packet.moved) found->second.teleport(Real(packet.time), Real(packet.arrival), packet.position, packet.rotation);
            else found->second.receive(Real(packet.time), Real(packet.arrival), packet.position, packet.rotation);
        }
        for (auto& [name, player] : players) {
            if (!player.draw(Real(now))) continue;
            const Vec3& p = player.position;
            std::printf("%.17g\t%s\t%.17g\t%.17g\t%.17g", now, name.c_str(), double(p.x), double(p.y), double(p.z));
            const Quat& q = player.rotation;
            std::printf("\t%.17g\t%.17g\t%.17g\t%.17g", q.x, q.y, q.z, q.w);
            std::puts("");
        }
    }
}
