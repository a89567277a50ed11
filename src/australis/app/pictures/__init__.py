"""Pictures of networks and of numbers: a tree for the terminal, SVG, Mermaid.

In: a network or series of numbers. Out: text. The same network gives the same picture, to the byte.
"""

from australis.app.pictures.mermaid import draw_mermaid
from australis.app.pictures.notation import notation_of
from australis.app.pictures.plots import Panel, Series, plotted
from australis.app.pictures.svg import draw_svg
from australis.app.pictures.tree import network_tree

__all__ = ["Panel", "Series", "draw_mermaid", "draw_svg", "network_tree", "notation_of", "plotted"]
