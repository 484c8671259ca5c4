"""`python -m fizeau`: the program of this package."""

import os
import sys
import sysconfig

NAME = "fizeau" + (sysconfig.get_config_var("EXE") or "")


def program():
    """Where pip put it: with this interpreter, or with `--user`."""
    folders = sysconfig.get_path("scripts"), sysconfig.get_path("scripts", os.name + "_user")
    places = [os.path.join(folder, NAME) for folder in folders]
    for place in places:
        if os.path.isfile(place):
            return place
    sys.exit(f"the program is not where pip puts it: {' nor '.join(places)}")


if __name__ == "__main__":
    found = program()
    os.execv(found, [found, *sys.argv[1:]])
