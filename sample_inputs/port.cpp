// A port of the strategy "epic" for "epic check --builtin --pacing demo --against ./port": reads
// packet text, prints CSV. Compile with g++ -O2 -ffp-contract=off -o port port.cpp
#include <cstdio>

using Real = float;
struct Vec { Real x, y, z; };
Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
Vec operator*(Vec a, Real b) { return {a.x * b, a.y * b, a.z * b}; }

int main() {
  const Real ahead = 0.2f, behind = 0.2f, slop = 0.5f, tick = 0.05f;
  Vec start{}, slope{}, shown{};
  Real newest = -1, now = 0;
  char line[1024];
  std::puts("time,x,y,z,vx,vy,vz");
  while (std::fgets(line, sizeof line, stdin)) {
    float p[7];
    if (std::sscanf(line, "%f , %f , %f / %f , %f , %f / %f", p, p + 1, p + 2, p + 3, p + 4,
                    p + 5, p + 6) != 7)
      continue;
    Real time = p[6];
    if (time >= newest) {
      start = shown;
      slope = (Vec{p[0], p[1], p[2]} + Vec{p[3], p[4], p[5]} * ahead - start) * (1 / behind);
      newest = time;
    }
    while (now < time + 0.15f) {
      now += tick;
      if (now < newest + slop) shown = start + slope * (now - newest);
      std::printf("%.17g,%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", double(now), double(shown.x),
                  double(shown.y), double(shown.z), double(slope.x), double(slope.y),
                  double(slope.z));
    }
  }
}
