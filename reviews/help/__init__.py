"""What the codes of refusals mean, for whoever follows the type of a problem document."""
