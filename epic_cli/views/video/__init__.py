"""Moving pictures of a comparison: GIF and MP4 files.

    with open_whole("jitter.gif") as stream:
        write_video(stream, "gif", comparison.scenes[:1], VideoSpec(worst=True), ["lerp", "epic"])

``stage`` says what is where at a time, ``frames`` draws it, ``files`` writes it.
"""
