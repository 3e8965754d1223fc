cdef extern from "intake/anew.h" namespace "epic" nogil:
    enum Verdict "epic::SenderClock::Verdict":
        AS_BEFORE "epic::SenderClock::kAsBefore"
        DOUBTFUL "epic::SenderClock::kDoubtful"
        ANEW "epic::SenderClock::kAnew"

    cdef cppclass SenderClock:
        SenderClock()
        double shift()
        double step()
        Verdict look(double, double)
