"""The rule and the cure of each drawback of a drawing, in words."""

from __future__ import annotations

from typing import NamedTuple


class DrawbackNote(NamedTuple):
    """A fault in general (``title``), the rule by which it is reported, and its cure."""

    title: str
    rule: str
    cure: str


_EVEN_PACE = "Let each way last until the next packet is due."
_INTERVAL = "Take the send interval of the packets, or their stamps."
_BY_STAMPS = "Place states by the sender's stamps, and draw them at a delay."
_EACH_FRAME = "Move in each frame."

#: The notes, by cause.
DRAWBACK_NOTES = {
    "no-smoothing": DrawbackNote(
        "nothing smooths what is drawn: it jumps with each packet",
        "each frame goes the whole way to the newest state",
        "Draw from a delay buffer, or go a part of the way by the time that has passed.",
    ),
    "frame-rate": DrawbackNote(
        "the lag depends on the frame rate",
        "the lag at 30 frames a second is 30 ms longer than at 144, and half of that difference"
        " goes when the movement goes by time",
        "In a frame of dt seconds, go 1 - exp(-dt / time) of the way, not a fixed share.",
    ),
    "standing-frame": DrawbackNote(
        "what is drawn stands for a frame at each packet",
        "a way to the next state begins at the time of the frame that reads the packet",
        "Let a way begin at the time of the frame before.",
    ),
    "early-arrival": DrawbackNote(
        "ways are shorter than the send interval: what is drawn stands in between",
        "the time of a way is 10 % below the send interval",
        _EVEN_PACE,
    ),
    "wrong-interval": DrawbackNote(
        "ways are longer than the send interval: what is drawn never gets there",
        "the time of a way is 10 % above the send interval",
        _EVEN_PACE,
    ),
    "chase-lag": DrawbackNote(
        "what is drawn is always behind its goal, and slows down before it",
        "it goes a part of the rest of the way, toward a goal that is not predicted",
        "Draw from a delay buffer: it is as late as the network demands, and keeps the speed.",
    ),
    "arrival-stamps": DrawbackNote(
        "the network's jitter is drawn as changes of speed",
        "a buffer places states by their arrival, and draws better by the sender's stamps",
        _BY_STAMPS,
    ),
    "counted-ticks": DrawbackNote(
        "each lost packet shifts the count of ticks",
        "a buffer counts packets, and draws better by the sender's stamps",
        _BY_STAMPS,
    ),
    "no-margin": DrawbackNote(
        "a way ends just when the next packet is due: jitter makes it stand, or cuts it off",
        "a way lasts one send interval, and delays spread by 5 % of that (5 to 95 %)",
        "Draw later by the jitter, from a delay buffer.",
    ),
    "few-states": DrawbackNote(
        "the buffer keeps fewer states than its delay needs",
        "it keeps fewer than 10 states, and draws better with more",
        "Keep every state that is newer than the delay.",
    ),
    "wandering-clock": DrawbackNote(
        "the clock of the buffer wanders, which shows as changes of speed",
        "a steadier clock draws better",
        "Take the least or the median of arrival minus stamp, over ten seconds or more.",
    ),
    "unfollowed-drift": DrawbackNote(
        "the clocks run apart, and the clock of the buffer does not follow",
        "stamps drift against arrivals, and a clock that is renewed draws better",
        "Take the least or the median of arrival minus stamp over the last seconds.",
    ),
    "short-buffer": DrawbackNote(
        "the delay is too short: the buffer runs empty",
        "it is empty in 1 % of the frames, and a longer delay draws better",
        "Take the longer delay that is printed.",
    ),
    "short-delay": DrawbackNote(
        "the delay is too short for this network",
        "a longer delay draws better",
        "Take the longer delay that is printed.",
    ),
    "long-buffer": DrawbackNote(
        "the delay is longer than this network needs",
        "45 % of it is enough for all packets, or 60 % with another clock, or 60 ms can be spared",
        "Take the shorter delay that is printed.",
    ),
    "forgotten-states": DrawbackNote(
        "states are thrown away while they are still needed: the next one is shown early",
        "the states are dropped by an age that the drawn time has not yet left behind",
        "Keep the state before the drawn time, however old it is.",
    ),
    "slowed-time": DrawbackNote(
        "the drawn time is only slowed down and set back, and never catches up",
        "it goes on at most as fast as time, and packets set it back",
        "Let it go on faster, too, while it is later than the delay.",
    ),
    "slides": DrawbackNote(
        "what is drawn slides across teleports, through walls",
        "a frame is between both ends of a teleport, and with a snap distance none is",
        "Jump across what is too far for a step (snap), or mark teleports in the packet.",
    ),
    "growing-delay": DrawbackNote(
        "each hitch makes the delay longer, for good",
        "the drawn time never catches up, and its delay has grown by 10 ms",
        "Play a little faster while what is drawn is later than the delay.",
    ),
    "ticks": DrawbackNote(
        "what is drawn moves at ticks, not in each frame",
        "its ticks are longer than frames, and nothing is drawn between two of them",
        "Move in each frame, or draw between the last two ticks.",
    ),
    "packet-steps": DrawbackNote(
        "what is drawn moves only when a packet comes",
        "only a frame with a packet changes it",
        _EACH_FRAME,
    ),
    "packet-jumps": DrawbackNote(
        "a part of the error goes at each packet, at once: what is drawn jumps",
        "it moves on in each frame, and is corrected only in frames with a packet",
        "Spread each correction over the frames until the next packet.",
    ),
    "measured-interval": DrawbackNote(
        "the time between the last two packets is taken for the time to the next",
        "that time varies by 5 % of the send interval (5 to 95 %)",
        "Take the send rate, or the mean of many intervals.",
    ),
    "late-as-new": DrawbackNote(
        "a late packet is taken for the newest, and what is drawn jumps back",
        "packets that an earlier one has overtaken are drawn, too",
        "Drop a packet with an older sequence number or stamp than the newest.",
    ),
    "state-steps": DrawbackNote(
        "each state is shown as it is until the next",
        "nothing moves between two states, and packets are 1.5 frames apart or more",
        "Draw lines between states.",
    ),
    "spare-states": DrawbackNote(
        "the buffer waits for spare states, and stands until they are there",
        "it goes on only while a number of states wait behind the next, and draws better without",
        "Go on as soon as the next state is there.",
    ),
    "stops-short": DrawbackNote(
        "the last step of each way is left out: what is drawn stands short of each state",
        "ways end a step before their state",
        "Let the last step reach the state.",
    ),
    "two-in-a-frame": DrawbackNote(
        "two packets in one frame have no time between them",
        "packets share a frame, and the time between the last two is taken for an interval",
        _INTERVAL,
    ),
    "overshoot": DrawbackNote(
        "the goal is where the velocity leads in one interval: each turn or loss overshoots",
        "the goal is the newest state plus its velocity times the send interval",
        "Aim at the newest state, or draw from a delay buffer.",
    ),
    "predicted-turns": DrawbackNote(
        "the goal is where the velocity leads, and turns pull what is drawn back",
        "one packet in 20 is 2 % of a step off where the velocity led",
        "Draw from a delay buffer, which shows no turn before it is known.",
    ),
    "wrong-velocity": DrawbackNote(
        "velocities are multiplied, so that each packet pulls back what is drawn",
        "it predicts by a multiple of the packets' velocities",
        "Convert velocities to the positions' unit per second: 3.6 km/h are 1 m/s.",
    ),
    "reversed-velocity": DrawbackNote(
        "the velocity has the wrong sign, so that it predicts backwards",
        "it predicts by a negative multiple of a velocity",
        "Subtract the position before from the newest: velocity = (newest - last) / time.",
    ),
    "axes-alone": DrawbackNote(
        "each axis moves by itself: diagonals are up to 1.4 times as fast",
        "each axis has the same constant speed",
        "Limit the length of the step, not each of its axes.",
    ),
    "message-time": DrawbackNote(
        "a packet moves what is drawn by a frame's part of the way: fast screens lag most",
        "it moves by the time of a frame, but only once a packet",
        _EACH_FRAME,
    ),
    "passes-goal": DrawbackNote(
        "what is drawn goes on past each state, and the next packet pulls it back",
        "ways go on beyond their end",
        "End each way at its state.",
    ),
    "speed-pulses": DrawbackNote(
        "an ease makes the speed rise and fall with each packet",
        "ways to the next state are eased",
        "Go from state to state at an even speed.",
    ),
    "swings": DrawbackNote(
        "a spring swings past its goal",
        "its damping is below 0.7 of twice the root of its stiffness",
        "Take a damping of twice the root of the stiffness.",
    ),
    "arrives-and-stands": DrawbackNote(
        "what is drawn is faster than the entity: it arrives, and stands until the next packet",
        "its constant speed is above 1.1 times the entity's usual speed",
        _EVEN_PACE,
    ),
    "falls-behind": DrawbackNote(
        "what is drawn is slower than the entity, and falls behind",
        "the entity's usual speed is above 1.1 times its constant speed",
        _EVEN_PACE,
    ),
    "limited-speed": DrawbackNote(
        "the largest speed of what is drawn is too low for the entity: it falls behind",
        "its largest speed is below the entity's usual speed",
        "Take the limit away, or snap to the newest state beyond a distance.",
    ),
    "added-ways": DrawbackNote(
        "ways to earlier states go on beside the newest, and all add up",
        "ways overlap, and last longer than the send interval",
        "At a packet, stop the timer of the way before.",
    ),
    "fed-back": DrawbackNote(
        "a growing share is applied to what is drawn: it arrives early, and stands",
        "the share grows with the time since the packet, and is complete within 1.1 send intervals",
        "Apply the share to the way from where it began.",
    ),
    "wrong-constant": DrawbackNote(
        "each packet counts for another time than packets are apart",
        "the constant is 10 % off the send interval",
        _INTERVAL,
    ),
    "oldest-state": DrawbackNote(
        "what is drawn jumps back to the oldest state when the buffer is empty",
        "it does, and the buffer runs empty",
        "Hold the newest state.",
    ),
    "queue": DrawbackNote(
        "a queue plays one state after the other: what is late stays late",
        "each state takes one interval, whatever waits behind it",
        "Drop states, or play faster, while more of them wait than the jitter needs.",
    ),
    "uneven-queue": DrawbackNote(
        "the speed follows how many states wait, which jitter changes",
        "the drawn time runs faster with each state that waits",
        _BY_STAMPS,
    ),
    "waypoint-queue": DrawbackNote(
        "what is drawn goes to each state in turn: what is late stays late",
        "it goes from waypoint to waypoint",
        _BY_STAMPS,
    ),
    "clamped-time": DrawbackNote(
        "the latest hitch decides how late what is drawn is",
        "the drawn time is set only where it leaves the last states",
        _BY_STAMPS,
    ),
    "own-timer": DrawbackNote(
        "a timer of its own begins each way: an early or late packet sets it back",
        "ways begin at even times, not at packets",
        "Begin a way at its packet, or place states by their stamps.",
    ),
    "standing": DrawbackNote(
        "what is drawn stands while the entity moves",
        "it does so in 20 % of the frames, and no other cause is found",
        "Draw from a delay buffer that covers the jitter.",
    ),
    "second-smoothing": DrawbackNote(
        "a low-pass follows what is smooth by itself: it adds lag and cuts corners",
        "what is drawn is better without the low-pass",
        "Draw what the strategy gives, without the low-pass.",
    ),
    "low-pass": DrawbackNote(
        "a second smoothing behind the buffer adds lag",
        "the buffer draws better without it",
        "Draw what the buffer gives.",
    ),
    "long-extrapolation": DrawbackNote(
        "old packets are extrapolated for long, and the next one pulls what is drawn back",
        "extrapolation lasts more than 0.3 s, and 0.1 s draws better",
        "Extrapolate for 0.1 s at most, then hold.",
    ),
}
