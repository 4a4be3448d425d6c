"""How French law writes the parts of a reference: the patterns behind `lexarbor.corpus.references`.

A text may be a million spaces long, so what repeats keeps what it took: `\\s*+` where one would write `\\s*`.
"""

import re

# Numbers: L. 1234-9, R*421-2, LO 111-3, L. 351-7-1 A, R. 142-1-A, 1382, 1er, 5 bis

_DASH = "[‐‑–-]"
_BLANK = "[ \u00a0\u202f]"
"""A space within a number: never a line break, behind which something else begins."""
_LETTERS = r"(?:L\.?\s?O|[LRDA])"
_MARKS = r"\s?\.?\s?(?:\*\s?){0,2}\.?\s?"
"""What may stand between the letters and the digits: dots, spaces and the stars of R**."""
_UNITS = "|".join(
    "euros? jours? semaines? mois ans? années? heures? minutes? janvier février mars avril mai juin juillet août "
    "septembre octobre novembre décembre".split()
)
_AMOUNT = rf"\d++(?:er)?(?:,\d|{_BLANK}\d{{3}}\b|\s?[%€]|\s(?:{_UNITS})\b)"
"""A sum, a duration or a date."""
# not `)*+`: before 3.11.5 Python kept what a failed possessive round had taken; the look ahead forbids to stop early
_DIGITS = rf"(?!{_AMOUNT})\d++(?:\.\d++)*(?!\.\d)(?!°)(?:{_DASH}\d++(?!°))*(?!{_DASH}\d++(?!°))"
"""In "L. 6313-1-2°" the 2° is a part of article L. 6313-1."""
_ORDINAL = rf"{_BLANK}?(?i:bis|ter|quater|quinquies|sexies|septies|octies|nonies|\w{{0,6}}(?:decies|vicies|tricies))\b"
_CAPITAL = rf"(?:{_BLANK}|{_DASH})[A-Z](?![\w'’°]|\.\s?[a-z])"
"""The A of "L. 351-7-1 A" and "R. 142-1-A"; not the C of "L. 1234-9 C. trav."."""
_SUFFIX = rf"(?:{_ORDINAL})?(?:{_CAPITAL})*"
_LETTERED = rf"(?P<letters>{_LETTERS}){_MARKS}{_DIGITS}(?:er\b)?{_SUFFIX}"
"""A word may be glued to its end: the law itself prints "L. 6331-1et"."""
_BARE = rf"{_DIGITS}(?:er\b)?{_SUFFIX}(?![\w°/])"
_ALONE = rf"(?={_LETTERS}(?:\s?\.|{_MARKS}\d++{_DASH}\d)){_LETTERED}"

LETTERED = re.compile(_LETTERED)
ALONE = re.compile(_ALONE)
"""Without its keyword an article is dotted or dashed: "D 3" may be a vitamin."""
ANY_NUMBER = re.compile(rf"{_LETTERED}|{_BARE}")
CANONICAL = re.compile(rf"(?P<letters>{_LETTERS})?[ .*]*+(?P<digits>{_DIGITS})(?:er\b)?(?P<suffix>{_SUFFIX})", re.I)
"""A number and nothing else, its spaces folded, in either case."""

# Codes: "code de la sécurité sociale", "ancien code du travail", "C. trav.", "CSS"

_ERA = r"(?:(?:nouveau|ancien)\s++)?"
_TITLE = r"\s++(?!pour\b|et\b|à\b|précité)[\w'’, \u00a0\u202f-]{3,110}"
"""What follows the word "code": only a known title can tell where the name ends in it."""
_SHORT = r"\bC\.\s?[a-z]{2,5}\.(?:\s?[a-z]{1,4}\.){0,3}|\b(?:CSS|CRPA|CRPM)\b"

CODE = re.compile(rf"{_ERA}code{_TITLE}", re.I)
LEADING_CODE = re.compile(r"\s*+(?P<code>code\b[^:]*?)(?::|(?=\bart(?:icles?|\.)))", re.I)
"""The code in front of a sheet's label."""
NOT_NAMED = re.compile(r"(?:(?P<present>présent)|même|dit|\bce)\s++$", re.I)
"""What stands before the word "code" where no name follows it."""

# What opens a reference, links its items and closes it

OPENING = re.compile(
    rf"""(?P<keyword>\b(?i:art(?:icles?\b|s?\.)))\s*+
    | (?P<code>\b(?i:{_ERA}code)\b)
    | (?<![\w‐‑–-])(?={_ALONE})""",
    re.X,
)
_PART = r"(?:[IVX]++\b|\d++°|(?-i:[a-z])\b\)?|(?:\w++\s++)?(?:alinéas?|phrases?)\b)"
"""A part of an article: I, 2°, a), premier alinéa."""

RANGE = re.compile(r"\s*+à\s++", re.I)
LIST = re.compile(
    rf"""\s*+(?:[,;]\s*+(?:(?:et|ou|ainsi\s++que)\s++)?|(?:et|ou)(?:\s*+/\s*+ou)?\s++|ainsi\s++que\s++)
    (?:(?:à|de|au|aux|du|des|le|la|les|celles?\s++de|ceux\s++de)\s++)?(?:[dl]['’]\s?)?
    (?:{_PART}(?:\s*+(?:,|et|à)\s*+{_PART})*\s++)?(?:(?:du|de)\s++(?:même\s++)?{_PART}\s++)*
    (?:(?:de\s++l['’]|des\s++|aux\s++|à\s++l['’]|les\s++)?\s*+articles?\s++)?""",
    re.X | re.I,
)
"""Between two items: ", ", " et au 2° du I de l'article "."""
PLAIN = re.compile(r"\s*+(?:,\s*+|(?:et|ou)\s++)|.*articles?\s++", re.I | re.DOTALL)
"""The connectors behind which a number without letters goes on with the list: "articles 5, 6 et 7"."""
ASIDE = re.compile(
    rf"""\s++et\s++suivants\b
    | \s*+\([^()]{{0,80}}\)
    | \s*+,\s*+(?:au\s++)?{_PART}(?:\s++et\s++{_PART})*(?=\s*+(?:,|et\b|du\b))""",
    re.X | re.I,
)
"""Between an item and its qualifier: "et suivants", "(premier alinéa)", ", 2°,"."""
QUALIFIER = re.compile(
    rf"""\s*+,?+\s*+(?:précité[es]*+\s++)?
    (?:(?:du|de\s++la)\s++(?:partie|livre|titre|chapitre|section|sous-section|paragraphe)\s++\w++\s++)*
    (?:
        (?P<here>du\s++présent\s++code)
      | (?P<same>du\s++même\s++code|dudit\s++code|de\s++ce\s++(?:même\s++)?code|du\s++code\s++précité)
      | (?:du\s++|de\s++l['’])?(?P<code>\b{_ERA}code(?P<title>{_TITLE})|{_SHORT})
      | (?P<law>
            (?:de\s++(?:la|cette|ce|ladite)|du|de\s++l['’]|des|dudit)\s*+(?:même\s++|présente?\s++)?
            (?:lois?|décrets?|ordonnances?|règlements?|directives?|conventions?|traités?|arrêtés?|constitution
              |protocole|charte|accords?|décisions?|livre\s++des\s++procédures|statuts?|annexe\s++[IVX\d]|avenant)\b
        )
    )""",
    re.X | re.I,
)
NEXT_IN_LIST = re.compile(rf"(?:,|\bet\b|\bou\b)\s++(?={_LETTERS}{_MARKS}\d)")
"""Where a list goes on behind the name of a code."""
