# The contributor's manual. `make` prints the targets; each sets up by itself what it needs, from nothing but
# GNU make, bash, Python >= 3.11 and a package registry.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

# The Python that .venv is made with: make PYTHON=python3.12 venv
export PYTHON ?= python3

VENV := .venv
READY := $(VENV)/.complete
PY := $(VENV)/bin/python

# The S3 server of the tests of object stores.
S3_SERVER := build/bin/versitygw

# The Kafka broker of the tests: its jars are beside this file.
KAFKA_BROKER := build/kafka/.complete

# How many processes share the tests among them: make JOBS=1 test
JOBS ?= 2

# The editor, once it is built.
PAGE := src/australis/service/web_static/index.html

# Passed on to pytest: make test ARGS='tests/engine -k java'
ARGS ?=

##@ Use it

.PHONY: demo
demo: $(READY) ## stream an hour of connections through the intrusion query on Spark, then keep a page of it open (ARGS=--no-page)
	@if [ -t 1 ] && [ ! -e $(PAGE) ]; then $(MAKE) --no-print-directory web || echo "demo: the editor cannot be built, so its page is empty"; fi
	$(VENV)/bin/australis demo $(ARGS)

##@ Check it

.PHONY: test
test: $(READY) ## run the tests, doc examples included (ARGS='tests/engine -k java' for some)
	$(PY) -m pytest -n $(JOBS) --dist loadfile $(or $(ARGS),-m 'not long')

.PHONY: test-doors
test-doors: $(READY) ## run the tests against mosquitto, PostgreSQL and servers of webhooks
	$(PY) -m pytest tests/engine/sources/mqtt tests/engine/sinks/postgresql tests/engine/sinks/webhook tests/service/feeds $(ARGS)

.PHONY: test-long
test-long: $(READY) ## run what takes minutes: killed processes, database servers, many simulated worlds
	$(PY) -m pytest -n $(JOBS) --dist loadfile -m long --timeout=600 $(ARGS)

.PHONY: test-conformance-deep
test-conformance-deep: $(READY) ## search far longer for a difference between reference, kernels and Spark
	HYPOTHESIS_PROFILE=deep $(PY) -m pytest tests/conformance --timeout=3600 $(ARGS)

.PHONY: test-api
test-api: $(READY) ## call the service in every way that its description allows, and in many that it does not (ARGS='--requests 2000')
	$(PY) -m tests.service.fuzzing $(ARGS)

.PHONY: test-networks
test-networks: $(READY) ## compare 10,000 random networks with their meaning (ARGS='--networks 500 --first 7')
	$(PY) -m tests.conformance.campaign $(ARGS)

.PHONY: test-crash
test-crash: $(READY) ## kill nodes, executors and disks, and compare what comes out (ARGS='--kills 20 --runner light'); long
	$(PY) -m pytest tests/crash tests/spark_cluster
	$(PY) -m tests.crash.campaign $(ARGS)

.PHONY: test-crash-short
test-crash-short: $(READY) ## kill nodes for two minutes, and compare what comes out (ARGS='--seed 3')
	$(PY) -m tests.crash.campaign --kills 12 --seconds 90 --events 80 $(ARGS)

.PHONY: test-cluster
test-cluster: $(READY) ## kill, stop and cut off linked nodes, and compare what comes out (ARGS='--harms 200 --seed 3')
	$(PY) -m tests.cluster.campaign $(ARGS)

.PHONY: test-objects
test-objects: $(READY) $(S3_SERVER) ## kill drivers and lose their disks on an S3 server, which Go builds (ARGS='--kills 50 --losses 20'); long
	$(PY) -m pytest tests/objects --timeout=600
	$(PY) -m tests.crash.campaign --root s3 --runner light --kills 12 --losses 5 --events 80 $(ARGS)

.PHONY: test-kafka
test-kafka: $(READY) $(KAFKA_BROKER) ## test Kafka in and out with a broker that Maven fetches, and kill node, client and broker (ARGS='--kills 50')
	$(PY) -m pytest tests/kafka --timeout=600
	$(PY) -m tests.kafka.campaign --kills 3 $(ARGS)

$(KAFKA_BROKER): tests/kafka/pom.xml
	mvn --quiet --batch-mode --file tests/kafka/pom.xml dependency:copy-dependencies -DincludeScope=runtime \
		-DoutputDirectory=$(CURDIR)/build/kafka/lib
	touch $@

$(S3_SERVER):
	GOBIN=$(CURDIR)/build/bin go install github.com/versity/versitygw/cmd/versitygw@v1.8.0

.PHONY: bench-objects
bench-objects: $(READY) $(S3_SERVER) ## measure commits that are copied to an S3 server of this machine, and its requests
	$(PY) -m benchmarks.objects $(ARGS)

.PHONY: test-sim
test-sim: $(READY) ## play the engine on a virtual machine, seed by seed (ARGS='--seeds 500', ARGS=--mutations)
	$(PY) -m tests.simulation.campaign $(ARGS)

.PHONY: test-soak
test-soak: $(READY) ## thousands of trains in a row: do time or memory grow? (ARGS='--trains 1000 --plot soak.svg')
	$(PY) -m benchmarks.soak $(ARGS)

.PHONY: test-engine-deep
test-engine-deep: $(READY) ## search far longer for a difference between the reference and a node
	HYPOTHESIS_PROFILE=deep $(PY) -m pytest tests/conformance/test_engine.py --timeout=36000 $(ARGS)

.PHONY: check
check: lint types imports ## everything that is checked without running: lint, types, imports

.PHONY: lint
lint: $(READY) ## ruff: style, likely bugs, formatting
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .

.PHONY: types
types: $(READY) ## mypy, strict
	$(PY) -m mypy

.PHONY: imports
imports: $(READY) ## who may import whom (the layers of ARCHITECTURE.md)
	$(VENV)/bin/lint-imports

.PHONY: bench-kernels
bench-kernels: $(READY) ## measure the kernels, in tuples per second
	$(PY) -m benchmarks.kernels $(ARGS)

.PHONY: bench-engine
bench-engine: $(READY) ## measure the engine beside Structured Streaming (ARGS='--case b' for some cases)
	$(PY) -m benchmarks.engine $(ARGS)

# Other engines, each in an environment of its own, and the jars that they need for files and topics.
OTHERS := .venv-flink/.complete .venv-bytewax/.complete build/flink-parquet/.complete
TOPICS := .venv-flink/.complete $(KAFKA_BROKER) build/spark-kafka/.complete build/flink-kafka/.complete

.venv-%/.complete: benchmarks/others/%.lock
	rm -rf .venv-$*
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --require-hashes -r $<
	touch $@

build/%/.complete: benchmarks/others/%.xml
	mvn --quiet --batch-mode --file $< dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/build/$*
	touch $@

.PHONY: bench-others
bench-others: $(READY) $(OTHERS) ## measure the engine beside Flink and Bytewax, which it installs (ARGS='--engine pyflink --case tumbling')
	$(PY) -m benchmarks.others $(ARGS)

.PHONY: bench-topics
bench-topics: $(READY) $(TOPICS) ## measure the delay from topic to topic beside Flink and both modes of Structured Streaming (ARGS='--side light')
	$(PY) -m benchmarks.others.topics $(ARGS)

.PHONY: bench-quiet
bench-quiet: $(READY) ## measure the delay of windows of keys that fall quiet beside Structured Streaming
	$(PY) -m benchmarks.engine --case quiet $(ARGS)

.PHONY: bench-qos
bench-qos: $(READY) ## measure what graphs are good for: scheduling, shedding, bursts (ARGS=--quick for a short run)
	$(PY) -m benchmarks.qos $(ARGS)

.PHONY: bench-steady
bench-steady: $(READY) ## measure how steady shedding is: five minutes at 150 % of what a node can do (ARGS='--seconds 60')
	$(PY) -m benchmarks.steady $(ARGS)

.PHONY: bench-steady-virtual
bench-steady-virtual: $(READY) ## the same in virtual time, where other work on the machine does not count (ARGS='--noise 0.3')
	$(PY) -m benchmarks.steady_virtual $(ARGS)

.PHONY: bench-agreement
bench-agreement: $(READY) ## compare what check --rate says of a load with what a node then needs
	$(PY) -m benchmarks.agreement $(ARGS)

.PHONY: bench-live
bench-live: $(READY) ## measure queries on a running stream and its past, and the optimiser (ARGS=--quick)
	$(PY) -m benchmarks.live $(ARGS)

.PHONY: bench-service
bench-service: $(READY) ## measure the service: Flight, HTTP, stalled subscribers, Kafka (ARGS='flight http' for some)
	$(PY) -m benchmarks.service $(ARGS)

.PHONY: bench-cluster
bench-cluster: $(READY) ## measure links between nodes: throughput, delay, weights (ARGS=weights for some)
	$(PY) -m benchmarks.cluster $(ARGS)

.PHONY: bench-scale
bench-scale: $(READY) ## measure how cost grows with outputs, boxes, superboxes, windows and tuples (ARGS='choosing planning' for some)
	$(PY) -m benchmarks.scale $(ARGS)

.PHONY: bench-runners
bench-runners: $(READY) ## measure the light runner beside Spark: small trains, a million tuples, the first result
	$(PY) -m benchmarks.runners $(ARGS)

.PHONY: bench-vans
bench-vans: $(READY) ## run examples/vans at 1 and 5 times the rate, kill the node twice each, and compare with DuckDB
	$(PY) examples/vans/compare.py $(ARGS)

.PHONY: bench-nexmark
bench-nexmark: $(READY) ## run NEXMark on the kernels beside DuckDB, and compare (ARGS='--events 5000000 --queries q5 q9')
	$(PY) examples/nexmark/against_duckdb.py $(ARGS)

.PHONY: bench-linear-road
bench-linear-road: $(READY) ## measure how many expressways of Linear Road a node sustains (ARGS='--expressways 10 20 --runner spark')
	$(PY) -m benchmarks.linear_road $(ARGS)

.PHONY: experiments
experiments: $(READY) ## run the papers' experiments on the distributed policies (ARGS=market for some)
	$(PY) -m benchmarks.experiments $(ARGS)

.PHONY: bench-linear
bench-linear: $(READY) ## measure the time per tuple over 1, 10 and 100 million tuples
	$(PY) -m benchmarks.linear $(ARGS)

##@ The editor (`web/`)

# The packages of web/package-lock.json; npm is the machine's, or a wheel's where there is none. Not `npm ci`, which newer
# versions refuse where a registry lacks optional packages of other platforms.
WEB_READY := web/node_modules/.complete

$(WEB_READY): web/package.json web/package-lock.json scripts/npm
	scripts/npm install --no-save --no-audit --no-fund
	@touch $@

.PHONY: web
web: $(WEB_READY) ## build the editor, which `australis serve` then has at /
	scripts/npm run build

.PHONY: test-web
test-web: $(READY) web ## build the editor and try it in Chromium against a node (ARGS='-g demo' for some, CHROMIUM=path)
	scripts/npm test
	scripts/npm run e2e -- $(ARGS)

.PHONY: bench-web
bench-web: $(READY) web ## measure the editor in Chromium: paint, pan and zoom with 1,000 boxes, live figures; the last line is JSON
	scripts/npm run bench --silent

.PHONY: screenshots
screenshots: $(READY) web ## take the pictures of the editor in docs/pictures
	scripts/npm run screenshots

.PHONY: test-web-model
test-web-model: $(WEB_READY) ## run the tests of the editor's graph model, and its style and types
	scripts/npm run lint
	scripts/npm run types
	scripts/npm test

##@ Change it

.PHONY: format
format: $(READY) ## put the code into shape: import order, safe fixes, formatting
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

.PHONY: docs
docs: $(READY) ## regenerate pages and pictures, and check the rest
	$(PY) scripts/docs.py $(ARGS)

.PHONY: lock
lock: ## pin what pyproject.toml asks for in requirements.lock (ARGS=--upgrade for newer versions)
	@[ -x $(VENV)/bin/uv ] || scripts/setup
	$(VENV)/bin/uv pip compile pyproject.toml --extra dev --extra jre --extra mqtt --extra otel --extra kafka --extra postgresql --extra s3 --extra simulation --output-file requirements.lock \
		--universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --no-emit-find-links --quiet $(ARGS)

##@ Set up and tear down

.PHONY: venv
venv: $(READY) ## create or renew .venv from requirements.lock

$(READY): pyproject.toml requirements.lock scripts/setup
	@scripts/setup

.PHONY: clean
clean: ## remove .venv and everything else that can be made again
	rm -rf $(VENV) .venv-flink .venv-bytewax build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help
help: ## print this
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
