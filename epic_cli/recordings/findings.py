"""Findings that make the meaning of a recording doubtful: one table of codes, with words.

A finding is a value; its words, its severity and its explanation (``epic explain CODE``) are in
``KINDS`` alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from epic_cli.engine.text.widths import Count
from epic_cli.recordings.wording import FrontEnd


class Severity(Enum):
    """The severity of a finding."""

    ERROR = "error"  #: what is computed from the recording cannot be trusted
    WARNING = "warning"
    NOTE = "note"


class Kind(NamedTuple):
    """The texts and the severity that all findings of one code share.

    ``says`` is the observation, with a finding's facts in braces; ``cure`` says, without facts,
    what to do where no option can be proposed; ``explanation`` gives the background.
    """

    title: str
    severity: Severity
    says: str
    cure: str
    explanation: str


_ERROR, _WARNING, _NOTE = Severity

KINDS: Mapping[str, Kind] = {
    "E101": Kind("entities not told apart", _ERROR,
        "{seen}; {column}",
        "add a column that names the entity of each packet",
        "Packets of several entities are read as those of one, which is drawn between them. It"
        " shows when two packets have the same time at different places, or when the path leaps"
        " back and forth. Where a column that was not read separates them, it is proposed; two"
        " columns that only together name an entity are joined, as entity=team+number."),
    "E102": Kind("an entity for each packet", _ERROR,
        "{column} is different in each of {packets:,} packets, so each is an entity of its own",
        "choose the column that names entities, or none",
        "What was taken for the name of an entity counts packets. Nothing moves then: each entity"
        " has one position."),
    "E103": Kind("time starts over", _ERROR,
        "time goes back {times} and goes on from there{column}; later packets are dropped as late",
        "split the recording there, or add a column that names the match",
        "The recording holds several matches, rounds or sessions, each with a clock of its own."
        " With the column that names them in the name of the entity, as entity=match+player, each"
        " is drawn; otherwise split the file."),
    "E104": Kind("not in order of time", _ERROR,
        "times go {how}",
        "sort the recording by time",
        "Strategies discard packets that are older than the newest one, so most would not be"
        " drawn. Sort the lines by time, below the header."),
    "E105": Kind("grouped by entity", _NOTE,
        "the lines of {entities} entities stand one entity after the other; {done}",
        "",
        "A table exported from a group-by has all rows of one entity, then those of the next. That"
        " times go back from one to the next is the order of the file, not lateness: each entity"
        " is drawn by itself. Rows come in order of time; those of a pipe, whose end no one knows,"
        " and all beyond 1 GiB of them, come one entity after the other."),
    "E106": Kind("sorted by send time", _NOTE,
        "{packets:packet} arrived before the one above {packets:it|them}; {packets:it is|they are}"
        " replayed in order of arrival",
        "",
        "Packets are replayed in the order in which they arrived. Where the lines are in the order"
        " in which they were sent, they are sorted by arrival: comparisons sort all packets of an"
        " entity, replays those of two seconds in a file, and of 64 KiB in a pipe. For more, sort"
        " the file."),
    "E107": Kind("only what changed", _ERROR,
        "{partial:packet} {partial:lacks|lack} fields that other packets have, like snapshots of"
        " changes; {partial:it is|they are} refused",
        "fill in what is missing",
        "A server that sends only what changed leaves out the rest. With partial=on a packet has"
        " what its entity's packet before had, where it lacks it."),
    "E108": Kind("entities left out", _WARNING,
        "the {kept:,} with most packets of {entities:,} entities are judged",
        "choose an entity by its name",
        "Each entity is evaluated by itself, which takes time and memory for each. Those with most"
        " packets are, up to 1,000 unless max_entities says how many."),
    "E109": Kind("late packets", _NOTE,
        "{packets:packet} {packets:is|are} older than an earlier line of the same entity; most"
        " strategies drop {packets:it|them}",
        "",
        "Packets that overtook each other in the network stand in the order in which they came."
        " Most strategies drop what is older than the newest packet; buffers sort it in, in time."),
    "E110": Kind("sorted by time", _NOTE,
        "states below later ones of the same entity: {late:,}; states with the time of another,"
        " where the last one counts: {repeated:,}",
        "",
        "A recording that is sent again as a movement is sorted by time, so that a log in order of"
        " arrival will do. A state that is later than max_gap is another match's: it is refused."),
    "E111": Kind("one entity under two names", _ERROR,
        "{names} are one name in two spellings, and are read as different entities{more}",
        "write each name in one way",
        "Spreadsheets and data frames make 0.0 of the number 0 where a cell of its column is empty,"
        " and programs put blanks around a name. What is drawn then leaps between two entities,"
        " each of which lacks the packets of the other."),
    "E112": Kind("each packet stands twice", _ERROR,
        "only {distinct:,} of {packets:packet} are different; the others repeat every field",
        "log each packet once",
        "Two handlers that log the same message, or a file that was appended to itself. Rates,"
        " delays and loss are those of a sender that does not exist. A packet that the network"
        " brought twice has another arrival."),
    "E201": Kind("times in another unit", _ERROR,
        "times look like {unit} ({step:,.6g} from packet to packet) and are taken for {taken}",
        "write them in seconds",
        "Taken for seconds, such times make a recording a thousand times too long: each packet is"
        " drawn long before the next one comes. The unit is read from names such as time_ms and"
        " 'time [ms]'; elsewhere it has to be given: --read unit=ms."),
    "E202": Kind("Unix times", _WARNING,
        "times look like Unix times, which single precision rounds to minutes",
        "subtract the first",
        "The original computes in single precision, which has seven digits. Let the times begin"
        " at the first packet."),
    "E203": Kind("times too coarse", _ERROR,
        "{percent:.0f} % of the packets have the time of the packet before, though the entity"
        " moves",
        "log times with fractions of a second",
        "The times were written with too few digits: several packets share each, and the movement"
        " leaps from one to the next. A column that counts ticks or frames at a known rate can"
        " stand in for them."),
    "E204": Kind("time stands still", _ERROR,
        "all {packets:,} packets have the time {time:.6g}{likely}",
        "check which field or column is the time",
        "Nothing can be drawn of packets that all have one time. In a binary record a tick or a"
        " time in milliseconds that is a u32 and read as f32 looks like 0."),
    "E205": Kind("numbers out of range", _ERROR,
        "{packets:packet} {packets:has|have} a time or a position that is absurd, as {shown}",
        "check the offsets, types and byte order of the fields",
        "Lengths and times beyond a million million, or below the smallest normal numbers, come"
        " from reading bytes as a type that they are not: big-endian as little-endian, integers as"
        " floats."),
    "E206": Kind("not a number", _WARNING,
        "packets with NaN or infinity, as the demo reads them: {packets:,}; other formats leave"
        " them out",
        "write nothing where nothing is known",
        "Packet text is read as the demo reads it, which draws nan from there on. In tables and"
        " JSON such a number is missing, as an empty cell is: the packet is left out and counted."
        " epic convert writes null, or an empty cell."),
    "E207": Kind("a value for missing positions", _ERROR,
        "{axis} is {value:.10g} in {packets:packet} far off the path, which goes on as before",
        "leave these rows out, or their cells empty",
        "Programs write -1, 9999 or 0 where a place is not known. Each such row is a leap there and"
        " back, which every strategy draws, and every comparison judges."),
    "E208": Kind("leaps there and back", _WARNING,
        "{packets:packet} {packets:lies|lie} far away from the path, which then goes on as before",
        "leave these lines out, or read them as packets of another entity",
        "Rows of another kind (a shot, a spawn point), another entity's, or faulty measurements: a"
        " step of eight usual ones and more leads there, and another one back. Where a column says"
        " which rows they are, name it, as entity=kind; otherwise leave them out."),
    "E209": Kind("hardly a rate", _WARNING,
        "{step} from packet to packet of an entity, if times are in {unit}",
        "say in which unit times are",
        "Games send ten to a hundred packets a second. Fewer than one in ten seconds, or more than"
        " a thousand a second, are mostly times in another unit than their name says."),
    "E210": Kind("degrees, perhaps", _ERROR,
        "the two numbers of {cell} move by {size:.2g} in all, as latitude and longitude do",
        "say that they are degrees",
        "In degrees a walk is a change of the fourth decimal. Taken for lengths, everything here"
        " is a thousandth of a unit large, and speeds, errors and scores mean nothing."),
    "E211": Kind("arrivals in another unit", _ERROR,
        "arrivals last {ratio:,.4g} times as long as stamps, as if {unit} were read as {taken}",
        "write them in seconds",
        "Stamps and arrivals are of one recording and last equally long, whatever their clocks"
        " show. The unit is read from names such as recv_ms; elsewhere arrivals have that of the"
        " stamps, or seconds beside ticks, or what is given: --read arrival_unit=ms."),
    "E212": Kind("times of the log, perhaps", _WARNING,
        "{column} counts regularly, while the times are {low} to {high} apart",
        "take the count for the stamp, and the times for the arrivals",
        "A logger writes when a line was written: the receiver's clock, with the network's jitter"
        " in it. Taken for the sender's, such times make a regular sender an irregular one, and"
        " hide every delay."),
    "E213": Kind("frames in another unit of length", _ERROR,
        "what was drawn moves {ratio:,.4g} times as far as the packets",
        "give both files one unit of length",
        "Packets in meters and frames in pixels, or tiles and meters, are the usual case. However a"
        " game smooths, it draws about as far as its packets go; errors would be those of the"
        " unit."),
    "E214": Kind("frames in other coordinates", _WARNING,
        "what was drawn has other axes or another origin than the packets, {how}, and is read so",
        "",
        "Screens count y downwards, engines exchange y and z, and positions below a parent begin at"
        " that. The frames are compared in the packets' coordinates. The origin is where most"
        " frames at rest show the newest packet; if none rests, it is a guess."),
    "E215": Kind("arrivals, perhaps", _NOTE,
        "{column} runs as the times do, and is later by amounts that vary by {spread}",
        "name it as the arrival",
        "A log of a receiver has two clocks: the sender's, regular, and its own, with the network's"
        " jitter. With arrivals, packets are drawn as they came, and delays are measured; without,"
        " they come as they were sent."),
    "E216": Kind("frames on another clock", _ERROR,
        "the frames' clock is {apart} {way} that of the arrivals",
        "stamp both by one clock",
        "Browsers stamp frames by performance.now() and games by the time since their start, and"
        " messages often by the date. No frame shows a packet before it came, and none shows it"
        " seconds later: by the places that both files have, the clocks differ. The offset is"
        " right to about a frame, and so is the delay that is found with it."),
    "E301": Kind("velocities are all 0", _ERROR,
        "all velocities are 0, though the positions move",
        "leave them out",
        "Strategies that use velocities would draw an entity that stands still and leaps. Without"
        " velocities each gets one from the positions."),
    "E302": Kind("velocities in another unit", _ERROR,
        "velocities are about {ratio:.3g} times as long as the positions move in a second",
        "write them in length units a second, or leave them out",
        "Velocities have to be in the recording's own length unit per second. Units in names, as"
        " 'vx [km/h]', are converted."),
    "E303": Kind("velocities with other axes", _ERROR,
        "velocities fit the positions if their x, y, z are taken for {axes}",
        "name the columns of each axis",
        "Positions and velocities come from programs, or libraries, with different axes."),
    "E304": Kind("velocities unrelated to positions", _ERROR,
        "velocities do not go the way that the positions go",
        "leave them out",
        "They may be accelerations, directions of view, or velocities relative to something."),
    "E401": Kind("misspelt word", _WARNING,
        "{name}= is not known and passed over; did you mean {near}=?",
        "",
        "Behind the seven numbers of packet text stand words as arrival=0.1; those that are not"
        " known are passed over, as the demo does with all of them."),
    "E402": Kind("something behind the time", _ERROR,
        "{lines_words} something glued to the time, which is read up to there, as the demo reads"
        " it: {shown}",
        "write the time in seconds, with a point",
        "The demo reads the seventh number as far as it goes: '0,3' is 0, '100ms' is 100 seconds."),
    "E403": Kind("words that are not read", _WARNING,
        "{lines_words} words behind the numbers that are not key=value; they are passed over",
        "",
        "Behind the seven numbers stand words as arrival=0.1, and comments behind a #."),
    "E404": Kind("lines behind the end", _WARNING,
        "a line that begins with q ends packet text, and there are lines behind it",
        "leave that line out",
        "The demo ends at such a line, and so does what reads packet text."),
    "E405": Kind("empty", _NOTE,
        "the recording is empty",
        "",
        "A file of no bytes is a recording without packets."),
    "E501": Kind("rotations not of length 1", _WARNING,
        "rotations of a length other than 1: {packets:,}; they are drawn as if they had 1",
        "check the order and the units of their four numbers",
        "A quaternion that is a rotation has length 1; more than a thousandth off is no rounding:"
        " numbers that were averaged, packed, or are something else. All of them are normalized."),
    "E502": Kind("w is first", _WARNING,
        "the four numbers of rotations look like w, x, y, z: read as x, y, z, w, the entity would"
        " lie down or roll",
        "name the columns in the order w, x, y, z",
        "What lies on its back for good has such rotations, and what stands upright where w comes"
        " first and is taken for x. Programs differ: Unity, Unreal, Godot and glTF have w last,"
        " Eigen's constructor, MuJoCo and many papers first."),
    "E503": Kind("a rotation that is not read", _NOTE,
        "columns look like a rotation, which can be read in {ways}",
        "",
        "A rotation is read where its names are clear: qx to qw, rot.x to rot.w, yaw. Four numbers"
        " without names may have w first or last, three may be angles or a vector, a heading may"
        " be that of a compass."),
    "E504": Kind("angles look like radians", _WARNING,
        "all angles are less than 6.3, though the entity turns, and are taken for degrees",
        "convert them to degrees",
        "Yaw, pitch and roll are taken for degrees, unless names say otherwise, as yaw_rad."),
    "E505": Kind("spins in another unit", _WARNING,
        "spins are about {ratio:.3g} times as fast as the rotations turn",
        "leave them out",
        "Angular velocities have to be in radians per second. Degrees are 57.3 times as much; units"
        " in names, as 'wx [deg/s]', are converted."),
    "E506": Kind("spins about the body's axes", _WARNING,
        "spins fit the rotations if they are about the axes of the turning body",
        "turn them by the rotation, or leave them out",
        "Gyroscopes and many physics engines give angular velocities about the body's own axes;"
        " here they are about those of the world, as velocities are."),
    "E507": Kind("rotations change their sign", _NOTE,
        "the sign of rotations changes {times}: the four numbers leap, the rotation does not",
        "",
        "q and -q are one rotation. Drawn here, it makes no difference; a receiver that blends the"
        " numbers without the hemisphere check turns the long way round at each."),
    "E508": Kind("rotations never change", _NOTE,
        "all rotations of {entities} are equal, though it moves",
        "",
        "The sender may write a rotation that no one sets."),
    "E509": Kind("rotations of zeros", _WARNING,
        "{packets:packet} {packets:has|have} the rotation 0, 0, 0, 0, which means nothing",
        "send no rotation until there is one",
        "Loggers write 0, 0, 0, 0 before the first rotation is known. Such packets count as if they"
        " had no rotation; their positions are read."),
    "E510": Kind("angles look like degrees", _WARNING,
        "yaw goes from {low:.4g} to {high:.4g} and {how}, and is taken for radians",
        "read it as degrees",
        "Angles in radians seldom leave -6.3 to 6.3, and where they add up over whole turns they do"
        " not leap; no one turns three times a second for long."),
}  # fmt: skip


class RecordingFinding(NamedTuple):
    """A finding in a recording: its ``code``, the ``facts`` of its words, and where it was.

    ``lines`` are numbers of lines to look at; ``read`` is a better ``--read`` description, empty if
    none can be proposed.
    """

    code: str
    facts: Mapping[str, Any] = {}
    lines: Sequence[int] = ()
    read: str = ""

    @property
    def kind(self) -> Kind:
        """The entry of ``KINDS`` for this code."""
        return KINDS[self.code]

    @property
    def title(self) -> str:
        """The finding in a few words."""
        return self.kind.title

    @property
    def severity(self) -> Severity:
        """The severity of the finding."""
        return self.kind.severity

    @property
    def is_error(self) -> bool:
        """True if nothing that is computed from the recording can be trusted."""
        return self.kind.severity is Severity.ERROR

    @property
    def key(self) -> tuple[object, ...]:
        """The values by which two findings are the same; other numbers may differ."""
        return self.code, self.facts.get("name", "")

    @property
    def what(self) -> str:
        """The observation as a sentence without its full stop."""
        facts = self.facts.items()
        counts = {name: Count(fact) if type(fact) is int else fact for name, fact in facts}
        return self.kind.says.format_map(counts)

    def write_cure(self, front_end: FrontEnd) -> str:
        """Return what to do, in the words of a front end; empty if nothing needs to be done."""
        if self.read:
            return front_end.read(self.read)
        if self.facts.get("command"):
            return str(self.facts["command"])
        return self.kind.cure

    def write_words(self, front_end: FrontEnd) -> str:
        """Return the code, the observation and the remedy on one line."""
        cure = self.write_cure(front_end)
        ready = self.read or self.facts.get("command")
        helps = f"; {'try ' if ready else ''}{cure}" if cure else ""
        return f"{self.code} {self.title}: {self.what}{self._list_places()}{helps}"

    def _list_places(self) -> str:
        shown = ", ".join(map(str, self.lines))
        return f" (line{'s' if len(self.lines) > 1 else ''} {shown})" if self.lines else ""

    def record(self) -> dict[str, Any]:
        """Return all values for programs."""
        return {
            "code": self.code,
            "severity": self.severity.value,
            "title": self.title,
            "what": self.what,
            "lines": list(self.lines),
            "cure": self.write_cure(FrontEnd.COMMAND_LINE),
            "read": self.read,
        }


def sort_findings(findings: Iterable[RecordingFinding]) -> list[RecordingFinding]:
    """Sort the findings by severity, gravest first, then by code."""
    order = list(Severity)
    return sorted(findings, key=lambda one: (order.index(one.severity), one.code))


def list_doubts(findings: Iterable[RecordingFinding]) -> tuple[str, ...]:
    """Return the codes of the findings that make all computed values doubtful."""
    return tuple(
        dict.fromkeys(finding.code for finding in sort_findings(findings) if finding.is_error)
    )


def describe_limits(findings: Iterable[RecordingFinding]) -> list[str]:
    """Return sentences for a report on what was left out of all results."""
    return [
        f"Note: {finding.facts['name']}: {finding.what};"
        f" {finding.write_cure(FrontEnd.COMMAND_LINE)}."
        for finding in findings
        if finding.code == "E108"
    ]
