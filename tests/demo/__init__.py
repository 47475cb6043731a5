"""The demo agents do real work: in a real repository, with its real tests and a real browser."""
