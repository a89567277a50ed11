"""Pictures of networks: a tree for the terminal, SVG, Mermaid, JSON.

Comes in: a network. Goes out: text. The same network gives the same picture, to the byte.
"""
