// A game that reports by sample_inputs/engines/unreal_report.h, over a stub of Unreal.
#include <cmath>
#include <cstdlib>
#include "unreal_report.h"
int main(int, char** given) {
    FEpicReport report(given[2], std::atoi(given[1]));
    for (int n = 0; n < 12; ++n)
        report.Report(7, n / 20.0, FVector{100.0 * n, 200.0 * n, 300.0 * n},
                      FQuat{0, 0, std::sin(0.05 * n), std::cos(0.05 * n)});
}
