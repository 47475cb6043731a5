"""One day with the demo: real processes, real work, a reviewer's and an operator's hand, and kills."""
