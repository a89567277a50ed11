"""The benefit of quality of service: `python -m benchmarks.qos`, or `make bench-qos`.

One scene of four outputs (`scene`) gets streams of a given rate (`streams`, `feed`) on a node (`ours`) and by
hand-written Structured Streaming queries (`theirs`), in processes that stay warm (`worker`). What each output
received is rated by its graphs, with one formula for all (`judging`). The parts: utility over offered load
(`loads`), a burst (`burst`), semantic against random shedding (`semantic`), windows over a part of their
tuples (`approximation`), and the opening of a stock market (`stocks`).
"""
