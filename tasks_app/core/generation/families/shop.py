"""What invented shops sell: trades, articles with variants, and the matters customers write
about.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple


class Article(NamedTuple):
    """A kind of article: code, name, variants, price range."""

    code: str
    name: str
    variants: Sequence[str]
    low: float
    high: float
    parts: Sequence[str]
    """What can be broken about it."""


class Trade(NamedTuple):
    """What a shop sells."""

    suffix: str
    """Second word of the shop's name."""
    kind: str
    articles: Sequence[Article]


TRADES: Final = (
    Trade(
        "Homeware",
        "an online shop for the kitchen",
        (
            Article(
                "KTL",
                "kettle",
                ("graphite", "sand", "moss", "cream"),
                38,
                96,
                ("spout", "base", "lid"),
            ),
            Article(
                "PAN",
                "saute pan",
                ("24 cm", "28 cm", "32 cm"),
                34,
                88,
                ("handle", "rim", "coating"),
            ),
            Article(
                "CRF", "carafe", ("clear", "smoke", "amber"), 18, 52, ("neck", "foot", "stopper")
            ),
            Article(
                "TRY", "serving tray", ("oak", "walnut", "ash"), 22, 64, ("edge", "grip", "varnish")
            ),
            Article(
                "MIL",
                "pepper mill",
                ("black", "beech", "steel"),
                19,
                58,
                ("crank", "grinder", "thread"),
            ),
        ),
    ),
    Trade(
        "Lighting",
        "a mail-order house for lamps",
        (
            Article(
                "LMP",
                "desk lamp",
                ("brass", "matt black", "white"),
                42,
                130,
                ("arm", "shade", "switch"),
            ),
            Article(
                "PND", "pendant", ("opal", "copper", "linen"), 55, 160, ("canopy", "glass", "cable")
            ),
            Article(
                "FLR", "floor lamp", ("walnut", "ash", "black"), 80, 190, ("foot", "pole", "dimmer")
            ),
            Article(
                "SCN",
                "wall light",
                ("left", "right", "twin"),
                36,
                110,
                ("bracket", "shade", "plate"),
            ),
            Article(
                "STR",
                "string of lights",
                ("five-metre", "ten-metre"),
                15,
                44,
                ("plug", "socket", "wire"),
            ),
        ),
    ),
    Trade(
        "Outfitters",
        "a shop for hikers",
        (
            Article(
                "RUC",
                "rucksack",
                ("28-litre", "38-litre", "50-litre"),
                69,
                180,
                ("strap", "zip", "buckle"),
            ),
            Article(
                "TNT",
                "two-person tent",
                ("olive", "ochre", "slate"),
                120,
                240,
                ("pole", "seam", "groundsheet"),
            ),
            Article(
                "MAT",
                "sleeping mat",
                ("regular", "wide", "short"),
                35,
                110,
                ("valve", "seam", "cover"),
            ),
            Article(
                "STV", "gas stove", ("compact", "twin"), 29, 95, ("burner", "hose", "ignition")
            ),
            Article(
                "BTL", "steel bottle", ("half-litre", "one-litre"), 14, 38, ("cap", "seal", "wall")
            ),
        ),
    ),
    Trade(
        "Stationers",
        "a stationer by post",
        (
            Article(
                "PEN",
                "fountain pen",
                ("fine", "medium", "broad"),
                24,
                98,
                ("nib", "cap", "converter"),
            ),
            Article(
                "NTB",
                "bound notebook",
                ("ruled", "dotted", "plain"),
                12,
                34,
                ("spine", "cover", "ribbon"),
            ),
            Article(
                "DSK", "desk pad", ("green", "oxblood", "grey"), 26, 72, ("corner", "seam", "felt")
            ),
            Article(
                "INK", "ink set", ("blues", "earths", "greys"), 18, 49, ("bottle", "seal", "label")
            ),
            Article(
                "STP",
                "brass stamp",
                ("round", "oval", "square"),
                28,
                84,
                ("handle", "plate", "hinge"),
            ),
        ),
    ),
    Trade(
        "Garden",
        "a garden supplier",
        (
            Article(
                "SEC",
                "secateurs",
                ("small", "large", "left-handed"),
                21,
                79,
                ("blade", "spring", "catch"),
            ),
            Article(
                "CAN",
                "watering can",
                ("five-litre", "nine-litre"),
                18,
                56,
                ("rose", "handle", "seam"),
            ),
            Article(
                "BRD",
                "bird feeder",
                ("copper", "cedar", "green"),
                16,
                48,
                ("roof", "perch", "hook"),
            ),
            Article(
                "HOS",
                "garden hose",
                ("15-metre", "25-metre"),
                27,
                84,
                ("coupling", "nozzle", "wall"),
            ),
            Article(
                "PLT",
                "terracotta planter",
                ("low", "tall", "square"),
                24,
                92,
                ("rim", "foot", "glaze"),
            ),
        ),
    ),
    Trade(
        "Audio",
        "a dealer in small audio gear",
        (
            Article(
                "HPH",
                "headphone set",
                ("open", "closed", "wireless"),
                59,
                190,
                ("hinge", "cushion", "jack"),
            ),
            Article(
                "SPK",
                "bookshelf speaker",
                ("oak", "white", "black"),
                90,
                220,
                ("grille", "terminal", "cone"),
            ),
            Article(
                "TRN",
                "turntable mat",
                ("cork", "felt", "rubber"),
                14,
                42,
                ("edge", "centre", "surface"),
            ),
            Article(
                "CBL",
                "speaker cable",
                ("three-metre", "five-metre"),
                19,
                66,
                ("plug", "sleeve", "braid"),
            ),
            Article(
                "AMP",
                "headphone amplifier",
                ("silver", "black"),
                75,
                210,
                ("knob", "socket", "housing"),
            ),
        ),
    ),
    Trade(
        "Toys",
        "a maker of wooden toys",
        (
            Article(
                "TRN",
                "train set",
                ("oval", "figure of eight"),
                45,
                130,
                ("bridge", "engine", "rail"),
            ),
            Article(
                "BLK",
                "block box",
                ("natural", "painted", "giant"),
                28,
                86,
                ("lid", "hinge", "paint"),
            ),
            Article(
                "PUZ",
                "layer puzzle",
                ("forest", "harbour", "farm"),
                16,
                44,
                ("frame", "knob", "base"),
            ),
            Article("KIT", "play kitchen", ("mint", "beech"), 98, 210, ("tap", "oven door", "leg")),
            Article(
                "ROC", "rocking horse", ("dapple", "chestnut"), 88, 195, ("saddle", "runner", "ear")
            ),
        ),
    ),
    Trade(
        "Cycles",
        "a parts shop for cyclists",
        (
            Article(
                "SDL", "saddle", ("narrow", "wide", "leather"), 34, 120, ("rail", "cover", "clamp")
            ),
            Article(
                "LGT",
                "front light",
                ("200-lumen", "400-lumen"),
                29,
                99,
                ("lens", "mount", "button"),
            ),
            Article("PMP", "track pump", ("steel", "alloy"), 31, 88, ("hose", "gauge", "foot")),
            Article("BAG", "pannier", ("single", "pair"), 49, 150, ("hook", "flap", "buckle")),
            Article(
                "LCK", "folding lock", ("85 cm", "100 cm"), 44, 125, ("hinge", "cylinder", "holder")
            ),
        ),
    ),
)

DAMAGES: Final = ("cracked", "damaged", "broken", "dented", "scratched", "chipped")

CLUBS: Final = (
    "Hearth Club", "Lantern Circle", "Trail Card", "Quill Society", "Green Thumb Club", "First Row",
    "Maple Card", "Harbour Circle",
)  # fmt: skip

CARRIERS: Final = ("Swiftbarrow", "Northgull Parcel", "Tidewheel", "Redlatch Couriers", "Mosspost")

CONTRACT_ROLES: Final[Mapping[str, str]] = {
    "support lead": "support desk assistant",
    "head of customer care": "customer care assistant",
    "after-sales manager": "after-sales assistant",
    "shop manager": "shop assistant",
}
