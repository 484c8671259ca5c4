"""Says which versions these are, then answers requests for functions of moocore, a JSON object
a line, with how long each took.

{"load": PATH, "axes": D} reads points: little-endian doubles, point by point. {"call": NAME, "keywords": {...}}
calls that function of moocore on them. The time is that of the call alone.
"""

import json
import sys
import time
from importlib.metadata import version

import moocore
import numpy

print(json.dumps({"moocore": version("moocore"), "numpy": version("numpy")}), flush=True)
points = None
for line in sys.stdin:
    request = json.loads(line)
    if "load" in request:
        points = numpy.fromfile(request["load"], dtype="<f8").reshape(-1, request["axes"])
        answer = {"points": len(points)}
    else:
        function = getattr(moocore, request["call"])
        begin = time.perf_counter()
        value = function(points, **request["keywords"])
        seconds = time.perf_counter() - begin
        # Of a mask, how many it keeps; of many figures, their sum.
        answer = {"seconds": seconds, "value": float(numpy.sum(value))}
    print(json.dumps(answer), flush=True)
