"""has_modules.py MODULE…: status 0 if all of them are installed. It looks for them only: importing matplotlib takes longer
than many a test."""

import sys
from importlib.util import find_spec

sys.exit(not all(map(find_spec, sys.argv[1:])))
