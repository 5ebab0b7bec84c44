module github.com/specdecode/otel

go 1.26.0

require (
	github.com/stretchr/testify v1.12.1
	go.opentelemetry.io/otel v1.47.0
	go.yaml.in/yaml/v3 v3.0.6
)

require github.com/cespare/xxhash/v2 v2.3.0 // indirect
