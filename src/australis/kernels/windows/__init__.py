"""Windows of an Aggregate or Tumble: which are open, what they hold, when they close.

Released tuples come in; closed windows and the tables that hold the open ones go out.
"""
