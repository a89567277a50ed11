"""Trading: which tasks a participant hands to a partner, and at what price (the bounded-price mechanism).

Participants have contracts in pairs, each with a range of prices, and costs that grow ever faster with load.
A `Participant` is a machine: events come in, with the time; messages, movements and times to be woken at go
out. All that is sent and kept is plain values. `invariants` holds what is true of every movement.
"""
