#!/bin/sh
# The custom resources that a worker of the cases finds (spark.worker.resource.gpu.discoveryScript).
echo '{"name": "gpu", "addresses": ["0", "1"]}'
