"""Pieces: one network cut into a network for each node, with links in place of the arcs that are cut.

In: a network as it is drawn, and where its parts are to run. Out: a network for each node, or an error that
says which part cannot run there. Run together, the pieces do what the network does on one node.
"""

from australis.cluster.pieces.cutting import Piece, cut_into_pieces, link_name
from australis.cluster.pieces.placement import Placement, load_placement

__all__ = ["Piece", "Placement", "cut_into_pieces", "link_name", "load_placement"]
