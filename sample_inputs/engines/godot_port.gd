# Between the last two arrivals, a fixed time ago: a port for (Godot 4.4)
# epic check --builtin -s gambetta+update_rate=10 --feed jsonl --atol 1e-3 \
#     --against 'godot --headless --no-header --script godot_port.gd'
extends SceneTree


func _initialize() -> void:
	var delay := 1.0 # seconds behind
	for setting in OS.get_environment("EPIC_SETTINGS").split(" "):
		if setting.begins_with("update_rate="):
			delay = 1.0 / float(setting.get_slice("=", 1))
	var tick := OS.get_environment("EPIC_TICK").split_floats("/")
	var packets: Array[Dictionary] = []
	while true:
		var line := OS.read_string_from_stdin(65536)
		if line == "":
			break
		packets.append(JSON.parse_string(line)) # in order of arrival
	var end: float = packets[-1]["arrival"] + 0.15 if packets else -1.0
	var states: Array[Dictionary] = []
	var newest := -INF
	var shown := {}
	var taken := 0
	var k := 0
	while k * tick[0] / tick[1] <= end:
		var now := k * tick[0] / tick[1]
		while taken < packets.size() and packets[taken]["arrival"] <= now:
			var packet := packets[taken]
			taken += 1
			packet["p"] = Vector3(packet["x"], packet["y"], packet["z"])
			packet["q"] = Quaternion()
			if packet.has("qw"):
				packet["q"] = Quaternion(packet["qx"], packet["qy"], packet["qz"], packet["qw"])
			if packet.get("teleport", false):
				states.clear()
				newest = -INF
				shown = packet
			if packet["time"] > newest:
				newest = packet["time"]
				states.append(packet)
		var at := now - delay
		while states.size() > 1 and states[1]["arrival"] <= at:
			states.pop_front()
		if states.size() > 1 and states[0]["arrival"] <= at:
			var a := states[0]
			var b := states[1]
			var u: float = (at - a["arrival"]) / (b["arrival"] - a["arrival"])
			shown = {"p": a["p"].lerp(b["p"], u), "q": a["q"].slerp(b["q"], u)}
		if shown:
			var p: Vector3 = shown["p"]
			var q: Quaternion = shown["q"]
			print(JSON.stringify({"time": now, "x": p.x, "y": p.y, "z": p.z, "qx": q.x,
				"qy": q.y, "qz": q.z, "qw": q.w}, "", false, true))
		k += 1
	quit()
