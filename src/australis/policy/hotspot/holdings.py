"""What a peer executes, who writes its input streams, and where its output streams go."""

from __future__ import annotations

from collections.abc import Mapping

from australis.policy.hotspot.messages import Holding, Route, Task, Writer


class Holdings:
    """The executions of a peer's components, by operator.

    A component works for any number of applications, and moves with all that it has when the migration
    begins.
    """

    def __init__(self) -> None:
        self.tasks: dict[str, dict[str, Task]] = {}
        self.upstreams: dict[str, Writer] = {}
        self.versions: dict[str, int] = {}
        self.routes: dict[str, Route] = {}
        self.moved: dict[str, str] = {}
        """The new peer of a stream's writer that has moved away."""

    def add(self, holding: Holding) -> None:
        """Execute more tasks."""
        self.tasks.setdefault(holding.operator, {}).update({task.id: task for task in holding.tasks})
        self.upstreams.update(holding.upstreams)
        self.versions.update(holding.versions)
        self.write(holding.routes)

    def write(self, routes: Mapping[str, Route]) -> None:
        """Write streams from now on."""
        self.routes.update(routes)
        for stream in routes:
            self.moved.pop(stream, None)

    def holding(self, operator: str, tasks: tuple[Task, ...]) -> Holding:
        """Everything that belongs to a component's execution of some tasks."""
        reads = [stream for task in tasks for stream in task.reads]
        writes = [stream for task in tasks for stream in task.writes]
        return Holding(
            operator,
            tasks,
            {stream: self.upstreams[stream] for stream in reads},
            {stream: self.versions[stream] for stream in reads},
            {stream: self.routes[stream] for stream in writes},
        )

    def switching(self, tasks: tuple[Task, ...]) -> bool:
        """Whether the route of a stream that some tasks write is being switched."""
        return any(self.routes[stream].last is None for task in tasks for stream in task.writes)

    def remove(self, operator: str, tasks: tuple[Task, ...], to: str) -> Holding:
        """Stop executing some tasks, which have moved."""
        holding = self.holding(operator, tasks)
        moved = {stream: route._replace(moves=route.moves + 1) for stream, route in holding.routes.items()}
        for task in tasks:
            del self.tasks[operator][task.id]
        for stream in holding.upstreams:
            del self.upstreams[stream], self.versions[stream]
        for stream in holding.routes:
            del self.routes[stream]
            self.moved[stream] = to
        return holding._replace(routes=moved)
