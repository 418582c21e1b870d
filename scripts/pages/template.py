"""How a page comes of its template and of what it says."""

import pathlib

PARTS = pathlib.Path(__file__).resolve().parent


def text_of(file):
    """As it stands: nothing in it is escaped."""
    import jinja2

    return jinja2.utils.markupsafe.Markup(file.read_text(encoding="utf-8"))


def render(name, content, folder=PARTS):
    """The template of that name in `folder`, with the style of all pages, then the folder's own."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )
    style = text_of(PARTS / "style.css")
    if folder != PARTS:
        style += text_of(folder / "style.css")
    return environment.get_template(name).render(**content, style=style)
