"""Hot spots, simulated: peers that share the components of stream applications, and move them about.

`station` is a peer with its policy, `overlay` all of them; `workload` draws the applications of the paper's
experiment and `run` lets them live; `trials` moves components while messages are lost and peers crash;
`experiments` has the paper's numbers beside ours.
"""
