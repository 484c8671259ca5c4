"""Makes arimo-latin.ttf: the letters, digits and marks of Latin-1 and some punctuation, without hints and layout tables.

    npm pack @fontsource/arimo@5.3.0 && tar xzf fontsource-arimo-5.3.0.tgz
    python3 -m pip install fonttools==4.68.0 brotli==1.2.1
    python3 subset.py package/files/arimo-latin-400-normal.woff2 arimo-latin.ttf
"""

import sys

from fontTools import subset

PUNCTUATION = [0x2013, 0x2014, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2026, 0x20AC, 0x2212]
LETTERS = [*range(0x20, 0x7F), *range(0xA0, 0x100), *PUNCTUATION]

source, target = sys.argv[1:]
options = subset.Options()
options.layout_features = []
options.hinting = False
options.name_IDs = [0, 1, 2, 4, 5, 6, 13, 14]
options.drop_tables += ["GDEF", "GPOS", "GSUB", "STAT", "gasp", "prep"]
options.notdef_outline = True
options.recalc_timestamp = False

font = subset.load_font(source, options)
subsetter = subset.Subsetter(options)
subsetter.populate(unicodes=LETTERS)
subsetter.subset(font)
font.flavor = None
font.save(target)
