"""dygraphs, which draws the plots of pages: Debian's libjs-dygraphs, put into the page with its licence."""

import pathlib
import re

SCRIPT = pathlib.Path("/usr/share/javascript/dygraphs/dygraph.min.js")
STYLE = SCRIPT.with_suffix(".css")
LICENCE = pathlib.Path("/usr/share/doc/libjs-dygraphs/copyright")


def parts():
    """(script, style), or None where the library or its licence is not installed."""
    try:
        script, style, licence = (file.read_text(encoding="utf-8") for file in (SCRIPT, STYLE, LICENCE))
    except OSError:
        return None
    if "</script" in script + licence or "*/" in licence:
        return None
    # The policy of a page allows no attribute `style`, but what a script sets piece by piece.
    script = re.sub(r'\.setAttribute\("style",("[^"]*")\)', r".style.cssText=\1", script)
    return f"/*\n{licence}\n*/\n{script}", style
