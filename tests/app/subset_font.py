"""`python -m tests.app.subset_font FONT.woff2`: make anew the font that the reviewer's page sets formulas
in, a subset of STIX Two Math.

FONT.woff2 is `files/stix-two-math-latin-400-normal.woff2` of the package `@fontsource/stix-two-math` 5.3.0
of the npm registry. Needs fonttools 4.68.0 and brotli 1.2.1, which nothing else does; the same versions give the
same bytes.
"""

import sys
from pathlib import Path

MADE = Path(__file__).parents[2] / "fedtheory/app/package_math.woff2"
KEPT = (  # first and last characters of what formulas are written with
    (0x20, 0x7E),  # letters, figures
    (0xA0, 0xB7),
    (0xD7, 0xD7),
    (0xF7, 0xF7),
    (0x300, 0x338),  # accents
    (0x391, 0x3F5),  # Greek
    (0x2010, 0x2037),  # dashes, bars, primes
    (0x2102, 0x2135),  # letters doubled or in script that stand apart from the others
    (0x2190, 0x2194),  # arrows
    (0x21D0, 0x21D4),
    (0x2200, 0x2265),  # operators, relations
    (0x226A, 0x226B),
    (0x2282, 0x2287),
    (0x22C5, 0x22C6),
    (0x22EE, 0x22F1),
    (0x2308, 0x230B),
    (0x27E8, 0x27E9),
    (0x1D400, 0x1D467),  # bold, italic
    (0x1D49C, 0x1D4B5),  # script capitals
    (0x1D538, 0x1D551),  # doubled capitals
    (0x1D5A0, 0x1D5D3),  # sans serif
    (0x1D6A4, 0x1D6A5),
    (0x1D6E2, 0x1D71B),  # Greek italics
)


def made(font):
    """The bytes of the subset, with the font's own notice, licence and table of mathematics."""
    from fontTools import subset
    from fontTools.ttLib import TTFont

    options = subset.Options(
        flavor="woff2",
        layout_features=["ssty"],
        name_IDs=[0, 1, 2, 3, 4, 5, 6, 13, 14],
        hinting=False,
        recalc_timestamp=False,
        notdef_outline=True,
    )
    whole = TTFont(font, recalcTimestamp=False)
    cut = subset.Subsetter(options)
    cut.populate(unicodes=[code for first, last in KEPT for code in range(first, last + 1)])
    cut.subset(whole)
    whole.flavor = "woff2"
    whole.save(MADE)


if __name__ == "__main__":
    made(*sys.argv[1:])
