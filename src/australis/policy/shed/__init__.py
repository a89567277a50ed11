"""What is shed under overload, and where (Aurora 4.5).

Situations come in, commands about drop boxes go out. `shedder` decides when and how much, `drop_boxes` where,
`semantic` and `trials` which values.
"""
