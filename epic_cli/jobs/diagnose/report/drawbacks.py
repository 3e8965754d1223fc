"""The drawbacks of the way in which a game draws, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from epic_cli.jobs.diagnose.report.sentences import fill_template

if TYPE_CHECKING:
    from epic_cli.jobs.diagnose.remedies.drawing import Drawback, DrawingAdvice

#: The drawbacks, by cause.
DRAWBACKS = {
    "no-smoothing": "It jumps with each packet.",
    "frame-rate": "It depends on the frame rate: drawn {lags}.",
    "standing-frame": "It stands for a frame at each packet.",
    "early-arrival": "It takes {time:s} to each state, and they come every {interval:s}: it stands"
    " in between.",
    "wrong-interval": "It takes {time:s} to each state, and they come every {interval:s}: it never"
    " gets there.",
    "chase-lag": "It is about {lag:s} behind its goal, and {then} before each packet.",
    "arrival-stamps": "It draws the network's jitter ({jitter:s} from 5 to 95 %) as changes of"
    " speed: use the sender's stamps.",
    "counted-ticks": "A count of ticks is shifted by each loss: use the sender's stamps.",
    "no-margin": "It sets out at each arrival, and is there when the next packet is due: jitter"
    " ({jitter:s} from 5 to 95 %) makes it stand, or cuts its way off.",
    "few-states": "It keeps {keep:number} states, {kept:s} of movement: less than its delay needs.",
    "forgotten-states": "It throws states away by their age ({forget:s}): where the next one is"
    " late or lost, the state before it is gone, and the next is shown early. Keep the state before"
    " the drawn time.",
    "slowed-time": "Its own time is only ever set back: the slowest packet so far decides how late"
    " it is.",
    "wandering-clock": "Its clock wanders by {jitter:s} (5 to 95 %), which shows as changes of"
    " speed.",
    "unfollowed-drift": "The clocks run apart by {drift:s} a minute, and its clock does not follow:"
    " its delay changes as much.",
    "short-buffer": "Its delay covers {covered:share} of the frames here: {most} need {needed:s}.",
    "short-delay": "Its delay is too short for this network: {most} need {needed:s}.",
    "long-buffer": "Its delay is longer than this network needs: {most} need {needed:s}.",
    "growing-delay": "Its delay only grows, with each hitch: from {begun:s} to {grown:s} here.",
    "ticks": "It is drawn at ticks, not in each frame.",
    "packet-steps": "It moves only when a packet comes, every {interval:s}, and stands in between.",
    "packet-jumps": "It takes its error off at each packet, or a part of it, at once: it jumps.",
    "measured-interval": "It takes the time between the last two packets, which varies by"
    " {varies:s} (5 to 95 %) here, for the time to the next.",
    "late-as-new": "It takes each late packet ({late:share} of all) for the newest, and jumps back:"
    " drop what has an older sequence number or timestamp.",
    "state-steps": "It shows each state as it is until the next, every {interval:s}: draw lines"
    " between them.",
    "spare-states": "It needs {reserve:state} behind the one that it goes to, and stands until"
    " then.",
    "stops-short": "It leaves out the last step of each way, and stands short of each state.",
    "two-in-a-frame": "{doubled:share} of the packets come with another one in the same frame:"
    " there the measured time is 0.",
    "overshoot": "It aims where the velocity leads in one interval: it overshoots at each turn and"
    " loss.",
    "predicted-turns": "It goes where the velocity leads, and at turns the next packet pulls it"
    " back: 95 % of the packets are at most {missed:share} of a step off.",
    "wrong-velocity": "It counts each velocity {factor:number} times, so that each packet pulls it"
    " back: its unit is not that of the positions (3.6 km/h are 1 m/s).",
    "reversed-velocity": "It predicts backwards, so that each packet throws it on: the sign of the"
    " velocity is wrong (the newest position less the one before is right).",
    "axes-alone": "Each axis goes by itself: on diagonals it is up to 1.4 times as fast, and then"
    " turns off to the axis that is left.",
    "message-time": "It goes a frame's part of the way once a packet: the faster the screen, the"
    " farther it stays behind.",
    "passes-goal": "It goes on past each state until the next one comes, and is pulled back there.",
    "speed-pulses": "Its ease slows down before each state, or after the one before: the speed"
    " rises and falls with each packet.",
    "swings": "It swings past its goal: a spring that does not has a damping of twice the root of"
    " its stiffness.",
    "arrives-and-stands": "It goes at {speed:number} units a second, and the entity at"
    " {pace:number}: it arrives, and stands until the next packet.",
    "falls-behind": "It goes at {speed:number} units a second, and the entity at up to"
    " {fast:number}: it falls behind while that lasts.",
    "limited-speed": "It goes at {speed:number} units a second at most, and the entity at"
    " {pace:number}: it falls behind while that lasts.",
    "added-ways": "Its ways to earlier states go on beside the newest one, and all add up: it"
    " passes its goal, and swings. Stop the timer of the way before.",
    "fed-back": "Its growing share is applied to what is drawn: it arrives early, and stands until"
    " the next packet.",
    "wrong-constant": "It counts {time:s} for each packet, and they come every {interval:s}.",
    "oldest-state": "It jumps back to the oldest state when the buffer is empty.",
    "queue": "It plays a state each {time:s}, and they come every {interval:s}: what is late stays"
    " late.",
    "uneven-queue": "Its speed follows how many states wait, which jitter ({jitter:s} from 5 to"
    " 95 %) changes.",
    "waypoint-queue": "It goes to each state in turn: those that wait make it late, and what is"
    " late stays late.",
    "clamped-time": "Its own time is set only where it leaves the last states: the latest hitch"
    " decides how late it is.",
    "own-timer": "Its timer begins each {time:s} at no packet: it goes back when a packet comes"
    " before or after that.",
    "standing": "It stands in {held:share} of the frames in which the entity moves.",
    "slides": "It slides across {slides:teleport}: with snap={snap:number} it jumps there, as the"
    " entity does.",
    "second-smoothing": "A low-pass is on top of what is smooth by itself.",
    "low-pass": "It smooths twice: what is on top of the buffer adds {low_pass:s} of lag.",
    "long-extrapolation": "It extrapolates old packets for long, and is pulled back.",
}


def describe_drawback(drawback: Drawback, advice: DrawingAdvice) -> str:
    """Return a drawback, and its own remedy unless the advice tells that one anyway."""
    words = fill_template(DRAWBACKS[drawback.cause], drawback.values)
    if not drawback.certain:
        words = f"If it moves by frames, and not by time, {words[0].lower()}{words[1:]}"
    own = drawback.trial
    if own is None or own in (advice.remedy, advice.sooner):
        return words
    return f"{words} With {own.command.removeprefix('-s ')} alone: {own.words}."
