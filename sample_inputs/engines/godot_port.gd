# buffer: a delay buffer of parts: stamps, clock, delay, curve, catch-up, low-pass
#
# A buffer of states: the entity is drawn in the past, between two states that were received.
#
# drawn time = now - offset of the clocks - delay
# drawn      = before + (after - before) * (drawn time - before.time) / (after.time - before.time)
#
# Source: the delay buffers that games write themselves; formulas in the description
# Made by: epic code buffer+stamps=arrival+delay=0.1 --lang gdscript --rotations --main
# epic check --builtin -s buffer+stamps=arrival+delay=0.1 --rtol 1e-4 --atol 1e-3 --against 'godot3-server --no-window --script godot_port.gd'
#
# 0BSD: use it as you like, without any warranty.
extends SceneTree

const DELAY: float = 0.1  # s, how far in the past to draw
const KEEP: int = 1024  # the largest number of states kept


# An entity, drawn from a buffer of its states.
class Smoothing:
	var position: Vector3 = Vector3(0.0, 0.0, 0.0)  # what is drawn
	var drawn: bool = false  # something has been drawn
	var states: Array = []  # in order of time
	var begun: bool = false  # a packet was taken
	var newest: float = 0.0  # the newest timestamp
	var stamp: float = 0.0  # when its state was true
	var rotation  # what is drawn

	func _init():
		reset()

	# Forget the past.
	func reset() -> void:
		states.clear()
		begun = false
		drawn = false

	# Take a packet (finite numbers, times in s); return false if it is late, and dropped.
	func receive(time: float, arrival: float, position: Vector3, rotation) -> bool:
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
	func teleport(time: float, arrival: float, position: Vector3, rotation) -> void:
		if not begun or time >= newest:
			reset()
			receive(time, arrival, position, rotation)
			show(position, rotation)
			self.position = position
			self.rotation = rotation

	# Draw a position.
	func show(position: Vector3, rotation) -> void:
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
			between(i, time)
		else:
			ahead()

	# Draw between a state and the next.
	func between(i: int, time: float) -> void:
		var a: Dictionary = states[i]
		var b: Dictionary = states[i + 1]
		var u: float = (time - a.time) / (b.time - a.time)
		var drawn: Vector3 = a.position * (1.0 - u) + b.position * u
		show(drawn, a.rotation.slerp(b.rotation, u))

	# Draw the state this long after the newest one.
	func ahead() -> void:
		var newest: Dictionary = states[states.size() - 1]
		show(newest.position, newest.rotation)

# Packet text in, rows out, by arrival times (Godot 3: godot --no-window --script FILE).
func _initialize():
	var tick = (OS.get_environment("EPIC_TICK") if OS.has_environment("EPIC_TICK") else "1/20").split("/")
	var num = float(tick[0])
	var den = float(tick[1])
	var output = []
	OS.execute("cat", [], true, output)
	var packets = []
	for line in output[0].split("\n", false):
		var parts = line.strip_edges().split("/", true, 2)
		if parts.size() < 3:
			continue
		var words = parts[2].split(" ", false)
		var packet = {"time": float(_number(words[0])), "arrival": words[0], "order": packets.size()}
		packet["position"] = _vector(parts[0])
		packet["velocity"] = _vector(parts[1])
		for i in range(1, words.size()):
			var word = words[i].split("=", true, 1)
			if word.size() > 1:
				packet[word[0]] = word[1]
		packet["arrival"] = _number(packet["arrival"])
		var q = packet.get("rotation", "0,0,0,1").split(",")
		packet["rotation"] = Quat(_number(q[0]), _number(q[1]), _number(q[2]), _number(q[3]))
		packets.append(packet)
	packets.sort_custom(self, "_by_arrival")
	print(PoolStringArray(["time", "entity", "x", "y", "z", "qx", "qy", "qz", "qw"]).join("\t"))
	var players = {}
	var taken = 0
	var k = floor(packets[0]["arrival"] * den / num) - 1 if packets else 0
	while packets and k * num / den <= packets[-1]["arrival"] + 0.15:
		var now = k * num / den
		while taken < packets.size() and packets[taken]["arrival"] <= now:
			var packet = packets[taken]
			taken += 1
			var name = packet.get("entity", "")
			if not players.has(name):
				players[name] = Smoothing.new()
			if packet.get("teleport", "0") == "1":
				players[name].teleport(packet["time"], packet["arrival"], packet["position"], packet["rotation"])
			else:
				players[name].receive(packet["time"], packet["arrival"], packet["position"], packet["rotation"])
		for name in players:
			if players[name].draw(float(now)):
				var p = players[name].position
				var row = "%.9f\t%s\t%.9f\t%.9f\t%.9f" % [now, name, p.x, p.y, p.z]
				var q = players[name].rotation
				row += "\t%.9f\t%.9f\t%.9f\t%.9f" % [q.x, q.y, q.z, q.w]
				print(row.replace("inf.000000000", "inf"))
		k += 1
	quit()


func _vector(text):
	var n = text.split(",")
	return Vector3(_number(n[0]), _number(n[1]), _number(n[2]))


# Godot 3 reads numbers in single precision.
func _number(text):
	var parts = text.strip_edges().to_lower().split("e")
	var power = int(parts[1]) if parts.size() > 1 else 0
	var digits = parts[0].split(".")
	if digits.size() > 1:
		power -= digits[1].length()
	var value = float(int(parts[0].replace(".", "")))
	return value * pow(10.0, power) if power > 0 else value / pow(10.0, -power)


func _by_arrival(a, b):
	if a["arrival"] != b["arrival"]:
		return a["arrival"] < b["arrival"]
	return a["order"] < b["order"]
