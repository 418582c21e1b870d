"""How a page comes of its template and of what it says."""

import functools
import pathlib

PARTS = pathlib.Path(__file__).resolve().parent
SCRIPTS = ("basics.js", "plots.js", "fields.js", "page.js", "tables.js")  # in this order


def text_of(file):
    """As it stands: nothing in it is escaped."""
    return plain(file.read_text(encoding="utf-8"))


def plain(text):
    import jinja2

    return jinja2.utils.markupsafe.Markup(text)


@functools.cache
def environment_of(*folders):
    """One for each, which keeps the templates that it has compiled."""
    import jinja2

    return jinja2.Environment(loader=jinja2.FileSystemLoader(folders), autoescape=True, undefined=jinja2.StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)


def filled(name, content):
    """The template of that name, without what makes it a page."""
    return environment_of(PARTS).get_template(name).render(**content)


def render(name, content, folder=PARTS):
    """The template of that name in `folder`, with the style and scripts of all pages, then the folder's own."""
    from pages import library

    found = library.parts()
    style, script = text_of(PARTS / "style.css"), plain("\n".join(text_of(PARTS / name) for name in SCRIPTS))
    if folder != PARTS:
        style += text_of(folder / "style.css")
        script += text_of(folder / "rows.js")
    of_library, library_style = map(plain, found or ("", ""))
    return environment_of(folder, PARTS).get_template(name).render(**content, style=library_style + style,
                                                                   library=of_library, script=script)
