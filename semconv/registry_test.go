package semconv_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

type registry struct {
	Groups []struct {
		ID, Type, Name string
		Attributes     []struct {
			ID, Type, Brief string
		}
	}
	Metrics []struct{ Name, Instrument, Unit, Brief string }
}

// The Go source is read as text, so that a name added on either side alone fails the test.
func TestRegistryAndConstantsAgree(t *testing.T) {
	var reg registry
	b, err := os.ReadFile("registry.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(b, &reg))

	var attributes, others []string
	for _, g := range reg.Groups {
		if g.Name != "" {
			others = append(others, g.Name)
		}
		for _, a := range g.Attributes {
			require.NotEmpty(t, a.Brief, a.ID)
			require.Contains(t, []string{"string", "int", "double", "boolean", "int[]"}, a.Type, a.ID)
			attributes = append(attributes, a.ID)
		}
	}
	for _, m := range reg.Metrics {
		require.NotEmpty(t, m.Brief, m.Name)
		others = append(others, m.Name)
	}

	keys, names := constants(t)
	require.ElementsMatch(t, keys, attributes)
	require.ElementsMatch(t, names, others)
}

// constants returns the package's names: attribute keys, and metric, span and event names.
func constants(t *testing.T) (keys, names []string) {
	pkgs, err := parser.ParseDir(token.NewFileSet(), ".", func(f fs.FileInfo) bool {
		return !strings.HasSuffix(f.Name(), "_test.go")
	}, 0)
	require.NoError(t, err)
	ast.Inspect(pkgs["semconv"], func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		for _, v := range spec.Values {
			list := &names
			if call, ok := v.(*ast.CallExpr); ok {
				list, v = &keys, call.Args[0]
			}
			s, err := strconv.Unquote(v.(*ast.BasicLit).Value)
			require.NoError(t, err)
			if strings.HasPrefix(s, "spec_decode.") {
				*list = append(*list, s)
			}
		}
		return false
	})
	require.NotEmpty(t, keys)
	return keys, names
}
