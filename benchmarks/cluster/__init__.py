"""What many nodes are held to: a module for each claim, whose `measure` returns figures by name."""
