"""How a page comes of its template and of what it says."""

import pathlib

PARTS = pathlib.Path(__file__).resolve().parent


def render(name, content):
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(PARTS), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )
    style = jinja2.utils.markupsafe.Markup((PARTS / "style.css").read_text(encoding="utf-8"))
    return environment.get_template(name).render(**content, style=style)
