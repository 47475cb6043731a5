"""Evidence as an attacker would write it, for every viewer of the decision page."""
