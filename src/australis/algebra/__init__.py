"""What flows: schemas, expressions, orders, the SQuAl boxes, and networks of them.

In: texts and Python calls. Out: frozen, validated, typed values, and their JSON form.
Nothing here runs a network.
"""
