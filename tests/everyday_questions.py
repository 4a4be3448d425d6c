"""Questions in everyday words for sections of the tiny law: of night noise, of stray animals, and of another law."""

NOISE, ANIMALS, ELSEWHERE = "VALSCTA0105", "VALSCTA0106", "LEGISCTA000000000001"
EVERYDAY = {
    ANIMALS: ("Mon toutou s'est fait la malle hier soir", "Comment récupérer mon matou ?", "Un toutou méchant"),
    ELSEWHERE: ("Mon toutou aboie", "La java du matin"),
    NOISE: ("Mes voisins font la java jusqu'à trois heures du matin", "Qui appeler quand ça hurle dehors ?"),
}
HELD = [NOISE, ANIMALS]
"""In the order in which the rows of the tiny law come upon them."""
NOISE_ROWS = ("VALARTI0005", "VALARTI0006", "VALARTI0007")
ANIMAL_ROWS = ("VALARTI0008", "VALARTI0009", "VALARTI0011", "VALARTI0070")
"""The articles in force that stand in each."""
