package postgres

import (
	"maps"
	"testing"

	"waypost/shared/settings"
)

func TestAConfigOfOnlyAURLHasTheDocumentedDefaults(t *testing.T) {
	t.Parallel()
	const url = "postgres://127.0.0.1/waypost"
	var cfg Config
	getenv := func(name string) string { return map[string]string{"WAYPOST_DATABASE_URL": url}[name] }
	if _, err := settings.Load(&cfg, nil, getenv); err != nil {
		t.Fatalf("Load: %v", err)
	}
	want, err := cfg.pool()
	if err != nil {
		t.Fatalf("pool: %v", err)
	}
	got, err := Config{URL: url}.pool()
	if err != nil {
		t.Fatalf("pool: %v", err)
	}
	if got.MaxConns != want.MaxConns || got.ConnConfig.ConnectTimeout != want.ConnConfig.ConnectTimeout ||
		!maps.Equal(got.ConnConfig.RuntimeParams, want.ConnConfig.RuntimeParams) {
		t.Errorf("defaults of the zero values %+v, of the settings %+v",
			got.ConnConfig.RuntimeParams, want.ConnConfig.RuntimeParams)
	}
}
