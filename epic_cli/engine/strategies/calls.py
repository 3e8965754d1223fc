"""Functions that games smooth with, under the names that their engines and libraries give them."""

from __future__ import annotations

from typing import NamedTuple

from epic_cli.engine.strategies.parts.common_settings import EASE
from epic_cli.engine.strategies.systems import simplify_word


class Call(NamedTuple):
    """A call as code has it, the composition that draws so, and the ``names`` of the function."""

    title: str
    strategy: str
    names: tuple[str, ...]


#: The calls of each frame, with the numbers of tutorials. Names are read without their classes.
CALLS = (
    Call("Lerp(drawn, newest, 10 * dt)", "chase+how=lerp+time=0.1",
         ("lerp", "VInterpTo", "FInterpTo", "lerpVectors", "linear_interpolate")),
    Call("Lerp(drawn, newest, 0.1), whatever dt", "chase+how=share+share=0.1",
         ("lerp", "lerpVectors", "linear_interpolate")),
    Call("damp(drawn, newest, 10, dt)", "chase+how=exponential+time=0.1", ("damp", "expDecay")),
    Call("SmoothDamp(drawn, newest, velocity, 0.1)", "chase+how=spring+time=0.1",
         ("SmoothDamp", "damp3")),
    Call("MoveTowards(drawn, newest, 5 * dt)", "chase+how=speed+speed=5",
         ("MoveTowards", "move_toward", "VInterpConstantTo", "FInterpConstantTo")),
    Call("a tween to the newest state, 0.1 s", "chase+how=linear+time=0.1",
         ("tween", "TweenService", "create_tween", "DOMove", "LeanTween", "iTween", "gsap")),
    Call("a transition of CSS to the newest state, 0.1 s",
         "chase+how=eased+time=0.1+ease=css-ease+start=transition",
         ("transition", "CSS transition")),
    Call("a buffer of states, drawn 0.1 s in the past", "buffer+delay=0.1",
         ("entity interpolation", "snapshot interpolation", "interpolation buffer")),
)  # fmt: skip


def find_calls(text: str) -> list[Call]:
    """Return the calls of a function's name, which may have a class and arguments.

    Eases are found under the names of any library: easeInOutQuint, Quint.easeInOut, Ease.OutQuint.
    """
    ease = _find_ease(text)
    if ease:
        spec = f"chase+how=eased+time=0.1+ease={ease}"
        return [Call(f"a tween by {text.strip()}, 0.1 s", spec, (text,))]
    name = simplify_word(text.partition("(")[0].rpartition(".")[2])
    return [call for call in CALLS if name in map(simplify_word, call.names)]


def _find_ease(text: str) -> str:
    """Return the ease of a name; empty: it is none."""
    letters = simplify_word(text).replace("easing", "").replace("ease", "")
    for ease in EASE.choices:
        *ends, family = ease.split("-")
        if ends and letters in ("".join([*ends, family]), "".join([family, *ends])):
            return ease
    return letters if letters in EASE.choices else ""
