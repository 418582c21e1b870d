"""How a page comes of its template and of what it says."""

import base64
import functools
import hashlib
import pathlib
import re
import secrets

import literal

PARTS = pathlib.Path(__file__).resolve().parent
SCRIPTS = ("basics.js", "plots.js", "fields.js", "page.js", "tables.js")  # in this order
WITHOUT_SCRIPTS = "figure[data-chart] { display: none; }"
RULES = {}  # class: its declarations


def text_of(file):
    """As it stands: nothing in it is escaped."""
    return plain(file.read_text(encoding="utf-8"))


def plain(text):
    import jinja2

    return jinja2.utils.markupsafe.Markup(text)


def styled(declarations):
    """The class of what has these declarations of its own: the policy of a page allows no attribute `style`."""
    if not re.fullmatch(r"[-\w:;%.() ]+", declarations, re.ASCII):
        raise ValueError(f"{declarations!r} is more than numbers and names of colours")
    name = re.sub("[^a-z0-9]+", "-", declarations.lower()).strip("-")
    RULES[name] = declarations
    return name


def literally(value):
    return literal.for_terminal(value) if type(value) is str else value


@functools.cache
def environment_of(*folders):
    """One for each, which keeps the templates that it has compiled."""
    import jinja2

    made = jinja2.Environment(loader=jinja2.FileSystemLoader(folders), autoescape=True, undefined=jinja2.StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True, finalize=literally)
    made.globals |= {"styled": styled, "without_scripts": plain(WITHOUT_SCRIPTS)}
    return made


def filled(name, content):
    """The template of that name, without what makes it a page."""
    return environment_of(PARTS).get_template(name).render(**content)


def policy_of(styles, scripts):
    """A browser runs and draws what has one of these hashes, and fetches nothing, whatever else stands in the page."""

    def hashes(texts):
        found = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts)
        return " ".join(f"'sha256-{digest}'" for digest in found)

    return (f"default-src 'none'; style-src {hashes(styles)}; script-src {hashes(scripts)}; img-src data:; "
            "base-uri 'none'; form-action 'none'")


def render(name, content, folder=PARTS):
    """The template of that name in `folder`, with the style and scripts of all pages, then the folder's own."""
    from pages import library

    found = library.parts()
    style, script = text_of(PARTS / "style.css"), plain("\n".join(text_of(PARTS / name) for name in SCRIPTS))
    if folder != PARTS:
        style += text_of(folder / "style.css")
        script += text_of(folder / "rows.js")
    of_library, library_style = map(plain, found or ("", ""))
    # What only the whole page tells stands there as words that nobody can have written before.
    style_here, policy_here = (f"here-{secrets.token_hex(16)}" for _ in range(2))
    text = environment_of(folder, PARTS).get_template(name).render(
        **content, style=style_here, policy=policy_here, library=of_library, script=script)
    style = library_style + style + "".join(f".{of} {{ {rule} }}\n" for of, rule in RULES.items() if of in text)
    policy = policy_of([style, WITHOUT_SCRIPTS], [one for one in (of_library, script) if one])
    return text.replace(style_here, style).replace(policy_here, policy)
