"""What quality of service is good for: `python -m benchmarks.qos`, or `make bench-qos`.

One scene of four outputs (`scene`) gets streams of a given rate (`streams`, `feed`) on a node (`ours`) and by
hand-written Structured Streaming queries (`theirs`), in processes that stay warm (`worker`). What each output
got is judged by its graphs, by one formula for all (`judging`). The parts: utility over offered load
(`loads`), a burst (`burst`), values against chance (`semantic`), what windows tell of a part of their tuples
(`approximation`), and the open of a stock market (`stocks`).
"""
