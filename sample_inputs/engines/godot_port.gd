# buffer: a delay buffer of parts: stamps, clock, delay, curve, catch-up, low-pass
#
# A buffer of states: the entity is drawn in the past, between two states that were received.
#
# drawn time = now - offset of the clocks - delay
# drawn      = before + (after - before) * (drawn time - before.time) / (after.time - before.time)
#
# Clocks: time (s) is read from the sender's clock, arrival and now (s) from the receiver's.
# Source: the delay buffers that games write themselves; formulas in the description
# Made by: epic code buffer+stamps=arrival+delay=0.1 --lang gdscript --rotations --main
# epic check --builtin -s buffer+stamps=arrival+delay=0.1 --rtol 1e-4 --atol 1e-3 --against \
# 'godot --headless --script godot_port.gd'
#
# 0BSD: use it as you like, without any warranty.
extends SceneTree

const DELAY: float = 0.1  # s, how far in the past to draw
const KEEP: int = 1024  # the largest number of states kept


# An entity, drawn from a buffer of its states.
class Smoothing:
	var position: Vector3 = Vector3(0.0, 0.0, 0.0)  # what is drawn
	var drawn: bool = false  # something has been drawn
	var states: Array[Dictionary] = []  # in order of time
	var begun: bool = false  # a packet was taken
	var newest: float = 0.0  # the newest timestamp
	var stamp: float = 0.0  # when its state was true
	var rotation: Quaternion = Quaternion(0.0, 0.0, 0.0, 1.0)  # what is drawn

	func _init() -> void:
		reset()

	# Forget the past.
	func reset() -> void:
		states.clear()
		begun = false
		drawn = false

	# Take a packet (finite numbers, times in s); return false if it is late, and dropped.
	func receive(time: float, arrival: float, position: Vector3, rotation: Quaternion) -> bool:
		if begun and time <= newest:
			return false
		stamp = arrival
		states.append({"time": stamp, "position": position, "rotation": rotation})
		if states.size() > KEEP:
			states.pop_front()
		newest = time
		begun = true
		return true

	# Take a packet of an entity that was moved on purpose.
	func teleport(time: float, arrival: float, position: Vector3, rotation: Quaternion) -> void:
		if not begun or time >= newest:
			reset()
			receive(time, arrival, position, rotation)
			show(position, rotation)
			self.position = position
			self.rotation = rotation

	# Draw a position.
	func show(position: Vector3, rotation: Quaternion) -> void:
		self.position = position
		self.rotation = rotation
		drawn = true

	# Move position to where it is drawn at now.
	#
	# Return false before the first packet.
	func draw(now: float) -> bool:
		if not begun:
			return false
		place(now - DELAY)
		return drawn

	# Draw the buffer's state at a time.
	func place(time: float) -> void:
		var last: int = states.size() - 1
		var i: int = last
		while i >= 0 and states[i].time > time:
			i -= 1
		if i < 0:
			show(states[0].position, states[0].rotation)
		elif i < last:
			interpolate(i, time)
		else:
			ahead()

	# Draw between a state and the next.
	func interpolate(i: int, time: float) -> void:
		var a: Dictionary = states[i]
		var b: Dictionary = states[i + 1]
		var u: float = (time - a.time) / (b.time - a.time)
		var drawn: Vector3 = a.position * (1.0 - u) + b.position * u
		show(drawn, a.rotation.slerp(b.rotation, u))

	# Draw the state this long after the newest one.
	func ahead() -> void:
		var newest: Dictionary = states[states.size() - 1]
		show(newest.position, newest.rotation)

# Packet text in, rows out, by arrival times or frames.
func _initialize() -> void:
	var tick: PackedStringArray = "1/20".split("/")
	if OS.has_environment("EPIC_TICK"):
		tick = OS.get_environment("EPIC_TICK").split("/")
	var by_frame: bool = OS.get_environment("EPIC_PACING") == "frame"
	var num: float = tick[0].to_float()
	var den: float = tick[1].to_float()
	var packets: Array[Dictionary] = _read_packets()
	print("\t".join(PackedStringArray(["time", "entity", "x", "y", "z", "qx", "qy", "qz", "qw"])))
	if packets.is_empty():
		quit()
		return
	var players: Dictionary = {}
	var taken: int = 0
	var k: float = floor(packets[0]["arrival"] * den / num) - 1.0
	var end: float = packets[-1]["arrival"] + 0.15
	while k * num / den <= end:
		var now: float = k * num / den
		while taken < packets.size() and packets[taken]["arrival"] <= now:
			if by_frame:
				packets[taken]["arrival"] = now
			_take(packets[taken], players)
			taken += 1
		for entity in players:
			if players[entity].draw(now):
				print(_row(now, entity, players[entity]))
		k += 1.0
	quit()


func _read_packets() -> Array[Dictionary]:
	var output: Array = []
	OS.execute("cat", [], output)
	var packets: Array[Dictionary] = []
	for line in output[0].split("\n", false):
		var parts: PackedStringArray = line.strip_edges().split("/", true, 2)
		if parts.size() < 3:
			continue
		var words: PackedStringArray = parts[2].split(" ", false)
		var packet: Dictionary = {"time": words[0].to_float(), "arrival": words[0]}
		packet["order"] = packets.size()
		packet["position"] = _vector(parts[0])
		packet["velocity"] = _vector(parts[1])
		for i in range(1, words.size()):
			var word: PackedStringArray = words[i].split("=", true, 1)
			if word.size() > 1:
				packet[word[0]] = word[1]
		packet["arrival"] = packet["arrival"].to_float()
		var q: PackedStringArray = packet.get("rotation", "0,0,0,1").split(",")
		packet["rotation"] = Quaternion(
			q[0].to_float(), q[1].to_float(), q[2].to_float(), q[3].to_float()
		)
		packets.append(packet)
	packets.sort_custom(_by_arrival)
	return packets


func _take(packet: Dictionary, players: Dictionary) -> void:
	var entity: String = packet.get("entity", "")
	if not players.has(entity):
		players[entity] = Smoothing.new()
	var player: Smoothing = players[entity]
	if packet.get("teleport", "0") == "1":
		player.teleport(packet["time"], packet["arrival"], packet["position"], packet["rotation"])
	else:
		player.receive(packet["time"], packet["arrival"], packet["position"], packet["rotation"])


func _row(now: float, entity: String, player: Smoothing) -> String:
	var p: Vector3 = player.position
	var row: String = "%.9f\t%s\t%.9f\t%.9f\t%.9f" % [now, entity, p.x, p.y, p.z]
	var q: Quaternion = player.rotation
	row += "\t%.9f\t%.9f\t%.9f\t%.9f" % [q.x, q.y, q.z, q.w]
	return row


func _vector(text: String) -> Vector3:
	var n: PackedStringArray = text.split(",")
	return Vector3(n[0].to_float(), n[1].to_float(), n[2].to_float())


func _by_arrival(a: Dictionary, b: Dictionary) -> bool:
	if a["arrival"] != b["arrival"]:
		return a["arrival"] < b["arrival"]
	return a["order"] < b["order"]
