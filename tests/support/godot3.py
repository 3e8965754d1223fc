"""GDScript of Godot 4 as Godot 3 reads it, which is the one that distributions have."""

import re

#: What is spelled differently, in this order.
_SPELLINGS = (
    (r"Array\[\w+\]", "Array"),
    (r'"\\t"\.join\((PackedStringArray\(.*?\))\)', r'\1.join("\\t")'),
    (r"PackedStringArray", "PoolStringArray"),
    (r"Quaternion", "Quat"),
    (r"\.is_empty\(\)", ".empty()"),
    (r'OS\.execute\("cat", \[\], output\)', 'OS.execute("cat", [], true, output)'),
    (r"sort_custom\((\w+)\)", r'sort_custom(self, "\1")'),
    (r"(\w+(?:\[[^\]]+\])?)\.to_float\(\)", r"_number(\1)"),
    (r"\bmin\(", "least("),
    (r"\bmax\(", "greatest("),
    (r"\treturn row\n", '\treturn row.replace("inf.000000000", "inf")\n'),
    (r"(?<=\nclass Smoothing:\n)", "\tstatic func least(a, b):\n\t\treturn a if a < b else b\n\n"
     "\tstatic func greatest(a, b):\n\t\treturn a if a > b else b\n\n"),
)  # fmt: skip

#: Godot 3's own functions read numbers, and compare them, in single precision.
_NUMBER = """

func _number(text):
	var parts = text.strip_edges().to_lower().split("e")
	var power = int(parts[1]) if parts.size() > 1 else 0
	var digits = parts[0].split(".")
	if digits.size() > 1:
		power -= digits[1].length()
	var value = float(int(parts[0].replace(".", "")))
	return value * pow(10.0, power) if power > 0 else value / pow(10.0, -power)
"""


def for_godot3(text: str) -> str:
    """Return a program that ``epic code --lang gdscript --main`` wrote, for Godot 3.

    Raise ``ValueError`` for what Godot 4 does not know.
    """
    if unknown := re.search(r"\b(?:Quat|Pool\w+Array|funcref|yield|onready|export)\b", text):
        raise ValueError(f"{unknown[0]} is not of Godot 4")
    for new, old in _SPELLINGS:
        text = re.sub(new, old, text)
    return text + _NUMBER
