"""The market in a virtual world: participants with contracts, and the policies of `policy.trade`.

`graphs` draws who has contracts with whom, `configurations` draws prices and loads, `world` lets participants
talk, and checks what must be true of every movement; `experiments`, `stability` and `chains` are the paper's.
"""
