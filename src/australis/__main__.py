"""`python -m australis`: the command `australis`, where its script is not on the PATH."""

from australis.app.cli import main

main(prog_name="australis")
