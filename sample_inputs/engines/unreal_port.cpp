// Between the last two arrivals, a fixed time ago: a port for (g++ -O2 -o unreal_port unreal_port.cpp)
// epic check --builtin -s gambetta+update_rate=10 --feed csv --atol 1e-9 --against ./unreal_port
// In Unreal: FMath::Lerp of FVector, and FQuat::Slerp, which goes the shorter way, too.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

struct State { double time, arrival; bool teleport; std::vector<double> p, q; };
using Numbers = std::vector<double>;

Numbers mixed(const Numbers& a, const Numbers& b, double of_a, double of_b) {
    Numbers c(a.size());
    for (size_t k = 0; k < a.size(); ++k) c[k] = of_a * a[k] + of_b * b[k];
    return c;
}

Numbers slerp(const Numbers& a, const Numbers& b, double u) {
    double cosine = 0;
    for (size_t k = 0; k < a.size(); ++k) cosine += a[k] * b[k];
    double angle = std::acos(std::min(std::fabs(cosine), 1.0));
    if (angle < 1e-6) return b;
    double of_b = std::copysign(std::sin(u * angle) / std::sin(angle), cosine);
    return mixed(a, b, std::sin((1 - u) * angle) / std::sin(angle), of_b);
}

int main() {
    std::string set = std::getenv("EPIC_SETTINGS"), line, cell;
    double delay = 1 / std::atof(set.c_str() + set.find("update_rate=") + 12), num, den;  // s
    std::sscanf(std::getenv("EPIC_TICK"), "%lf/%lf", &num, &den);
    std::vector<std::string> names;
    std::getline(std::cin, line);
    for (std::istringstream cells(line); std::getline(cells, cell, ',');) names.push_back(cell);
    bool turns = line.find("qw") != std::string::npos;
    std::vector<State> packets, states;
    while (std::getline(std::cin, line)) {
        std::istringstream cells(line);
        std::map<std::string, double> n;
        for (auto& name : names) std::getline(cells, cell, ',') && (n[name] = std::atof(cell.c_str()));
        packets.push_back({n["time"], n["arrival"], n["teleport"] != 0, {n["x"], n["y"], n["z"]}, {}});
        if (turns) packets.back().q = {n["qx"], n["qy"], n["qz"], n["qw"]};
    }
    std::stable_sort(packets.begin(), packets.end(), [](auto& a, auto& b) { return a.arrival < b.arrival; });
    double end = packets.empty() ? -1 : packets.back().arrival + 0.15, newest = -HUGE_VAL, now;
    auto next = packets.begin();
    Numbers p, q;
    std::puts(turns ? "time,x,y,z,qx,qy,qz,qw" : "time,x,y,z");
    for (int k = 0; (now = k * num / den) <= end; ++k) {
        for (; next != packets.end() && next->arrival <= now; ++next) {
            if (next->teleport) states.clear(), newest = -HUGE_VAL, p = next->p, q = next->q;
            if (next->time > newest) states.push_back(*next), newest = next->time;
        }
        double at = now - delay;
        while (states.size() > 1 && states[1].arrival <= at) states.erase(states.begin());
        if (states.size() > 1 && states[0].arrival <= at) {
            double u = (at - states[0].arrival) / (states[1].arrival - states[0].arrival);
            p = mixed(states[0].p, states[1].p, 1 - u, u);
            q = slerp(states[0].q, states[1].q, u);
        }
        if (p.empty()) continue;
        std::printf("%.17g,%.17g,%.17g,%.17g", now, p[0], p[1], p[2]);
        for (double one : q) std::printf(",%.17g", one);
        std::puts("");
    }
}
