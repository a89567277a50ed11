"""What the arguments of commands mean: networks, files, roots, queries and settings of a node.

In: texts. Out: checked values, or a message that says what to write instead.
"""

from typing import TYPE_CHECKING

from australis.lazy import lazy_exports

if TYPE_CHECKING:
    from australis.app.options.files import check_files, check_inputs, named_files
    from australis.app.options.formats import format_option, named_formats, with_formats
    from australis.app.options.groups import GroupedCommand, grouped
    from australis.app.options.logs import log_options
    from australis.app.options.networks import (
        find_network,
        functions_option,
        import_python,
        network_arguments,
    )
    from australis.app.options.nodes import (
        DISCIPLINES,
        WAYS,
        Duration,
        ListenAddress,
        NodeOptions,
        RunnerName,
        Size,
        host_and_port,
        node_options,
        refuse_elsewhere,
    )
    from australis.app.options.progress import progress_option
    from australis.app.options.queries import QueryOptions, expressions, point_schema
    from australis.app.options.rates import RATE_METAVAR, rate_texts
    from australis.app.options.reaching import (
        NodeAddress,
        is_by_hand,
        node_address_options,
        reaching_argument,
        reaching_options,
        take_asked_node,
        take_named_node,
        take_node,
        take_places,
        take_reached,
    )
    from australis.app.options.roots import ROOT, RootOptions, as_json_option, root_argument, root_options
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "files": (
                "check_files",
                "check_inputs",
                "named_files",
            ),
            "formats": (
                "format_option",
                "named_formats",
                "with_formats",
            ),
            "groups": (
                "GroupedCommand",
                "grouped",
            ),
            "logs": ("log_options",),
            "networks": (
                "find_network",
                "functions_option",
                "import_python",
                "network_arguments",
            ),
            "nodes": (
                "DISCIPLINES",
                "WAYS",
                "Duration",
                "ListenAddress",
                "NodeAddress",
                "NodeOptions",
                "RunnerName",
                "Size",
                "host_and_port",
                "node_address_options",
                "node_options",
                "refuse_elsewhere",
            ),
            "progress": ("progress_option",),
            "queries": (
                "QueryOptions",
                "expressions",
                "point_schema",
            ),
            "rates": (
                "RATE_METAVAR",
                "rate_texts",
            ),
            "reaching": (
                "NodeAddress",
                "is_by_hand",
                "node_address_options",
                "reaching_argument",
                "reaching_options",
                "take_asked_node",
                "take_named_node",
                "take_node",
                "take_places",
                "take_reached",
            ),
            "roots": (
                "ROOT",
                "RootOptions",
                "as_json_option",
                "root_argument",
                "root_options",
            ),
        },
    )

__all__ = [
    "DISCIPLINES",
    "RATE_METAVAR",
    "ROOT",
    "WAYS",
    "Duration",
    "GroupedCommand",
    "ListenAddress",
    "NodeAddress",
    "NodeOptions",
    "QueryOptions",
    "RootOptions",
    "RunnerName",
    "Size",
    "as_json_option",
    "check_files",
    "check_inputs",
    "expressions",
    "find_network",
    "format_option",
    "functions_option",
    "grouped",
    "host_and_port",
    "import_python",
    "is_by_hand",
    "log_options",
    "named_files",
    "named_formats",
    "network_arguments",
    "node_address_options",
    "node_options",
    "point_schema",
    "progress_option",
    "rate_texts",
    "reaching_argument",
    "reaching_options",
    "refuse_elsewhere",
    "root_argument",
    "root_options",
    "take_asked_node",
    "take_named_node",
    "take_node",
    "take_places",
    "take_reached",
    "with_formats",
]
