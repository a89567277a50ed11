"""From networks to Spark plans.

In come bound boxes and their typed expressions; out go Spark columns and data frames that mean the same as
the reference. Nothing here runs a job, and no text of a user reaches Spark's parser.
"""
