package limit

import (
	"math"
	"testing"
	"time"
)

func TestHeadersOfARefusal(t *testing.T) {
	t.Parallel()
	tests := []struct {
		wait       time.Duration
		retryAfter string
	}{
		{-time.Second, "1"},
		{0, "1"},
		{time.Microsecond, "1"},
		{time.Second, "1"},
		{time.Second + time.Microsecond, "2"},
		{time.Hour, "3600"},
	}
	for _, tt := range tests {
		d := refusal(tt.wait.Microseconds())
		if d.OK {
			t.Errorf("refusal(%v).OK: got true, want false", tt.wait)
		}
		if got := string(d.AppendRetryAfter(nil)); got != tt.retryAfter {
			t.Errorf("Retry-After for %v: got %s, want %s", tt.wait, got, tt.retryAfter)
		}
		if got, want := string(d.AppendRateLimit([]byte("x"))), `x"client";r=0;t=`+tt.retryAfter; got != want {
			t.Errorf("RateLimit for %v: got %s, want %s", tt.wait, got, want)
		}
	}
}

func TestPolicyNamesBurstAndRefill(t *testing.T) {
	t.Parallel()
	tests := []struct {
		rate  float64
		burst int
		want  string
	}{
		{50, 100, `"client";q=100;w=2`},
		{3, 10, `"client";q=10;w=4`},
		{1000, 1, `"client";q=1;w=1`},
		{0.5, 30, `"client";q=30;w=60`},
	}
	for _, tt := range tests {
		if got := mustNew(t, Config{Rate: tt.rate, Burst: tt.burst}).Policy(); got != tt.want {
			t.Errorf("Policy at %v/s, burst %d: got %s, want %s", tt.rate, tt.burst, got, tt.want)
		}
	}
}

func TestNewRefusesWhatItCannotHonour(t *testing.T) {
	t.Parallel()
	good := Config{Rate: 50, Burst: 100}
	tests := map[string]func(*Config){
		"mode":                  func(c *Config) { c.Mode = "sometimes" },
		"no rate":               func(c *Config) { c.Rate = 0 },
		"negative rate":         func(c *Config) { c.Rate = -1 },
		"rate not a number":     func(c *Config) { c.Rate = math.NaN() },
		"infinite rate":         func(c *Config) { c.Rate = math.Inf(1) },
		"no burst":              func(c *Config) { c.Burst = 0 },
		"refill beyond a day":   func(c *Config) { c.Rate, c.Burst = 0.001, 87 },
		"local burst too large": func(c *Config) { c.LocalBurst = 101 },
		"negative local burst":  func(c *Config) { c.LocalBurst = -1 },
		"negative settle":       func(c *Config) { c.Settle = -1 },
		"negative timeout":      func(c *Config) { c.Timeout = -1 },
		"negative table":        func(c *Config) { c.Table = -1 },
		"table without bound":   func(c *Config) { c.Table = maxTable + 1 },
		"Redis without timeout": func(c *Config) { c.Redis = deadlineless(t) },
	}
	if _, err := New(good); err != nil {
		t.Fatalf("New(%+v): got %v, want no error", good, err)
	}
	for name, spoil := range tests {
		cfg := good
		spoil(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: got no error, want one", name)
		}
	}
}
