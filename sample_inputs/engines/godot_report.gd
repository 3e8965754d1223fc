# Godot 4: put it on a Node3D that moves. Sends its transform to `epic listen --read axes=zxy 9870`, and
# writes it to a file that `epic inspect` reads. Godot is right-handed with y up, in metres, and
# Quaternion has w last: --read axes=zxy puts z up and stays right-handed. For rotation_degrees as yaw,
# pitch and roll (its y, x and z) add --read euler=godot.
extends Node3D

@export var host := "127.0.0.1"
@export var port := 9870
@export var file_path := "" # as user://game.jsonl

var udp := PacketPeerUDP.new()
var file: FileAccess


func _ready() -> void:
	udp.connect_to_host(host, port)
	if file_path != "":
		file = FileAccess.open(file_path, FileAccess.WRITE)


func _physics_process(_delta: float) -> void:
	var p := global_position
	var q := global_basis.get_rotation_quaternion()
	var line := JSON.stringify({
		"entity": str(name), "time": Time.get_ticks_usec() / 1e6,
		"x": p.x, "y": p.y, "z": p.z, "qx": q.x, "qy": q.y, "qz": q.z, "qw": q.w,
	}, "", false, true)
	udp.put_packet(line.to_utf8_buffer())
	if file:
		file.store_line(line)


func _exit_tree() -> void:
	udp.close()
	if file:
		file.close()
