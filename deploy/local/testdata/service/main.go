// Command service stands in for waypost-origin and waypost-edge in tests of the launcher: it answers /readyz on its
// ops listener, /env?name= with its environment, dies at /die, and holds its ports like a real one.
package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if os.Getenv("WAYPOST_TEST_FAIL") != "" {
		fmt.Fprintln(os.Stderr, "told to fail")
		os.Exit(3)
	}
	if path := os.Getenv("WAYPOST_ADMIN_KEY_FILE"); path != "" {
		if _, err := os.Stat(path); err != nil {
			if err := os.WriteFile(path, []byte("wp_test_key\n"), 0o600); err != nil {
				fail(err)
			}
		}
	}
	for _, name := range []string{"WAYPOST_LISTEN", "WAYPOST_INTERNAL_LISTEN"} {
		if addr := os.Getenv(name); addr != "" {
			if _, err := net.Listen("tcp", addr); err != nil {
				fail(err)
			}
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /env", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, os.Getenv(r.FormValue("name")))
	})
	mux.HandleFunc("GET /die", func(http.ResponseWriter, *http.Request) { os.Exit(7) })
	server := &http.Server{Addr: os.Getenv("WAYPOST_OPS_LISTEN"), Handler: mux, ReadHeaderTimeout: time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err := server.ListenAndServe(); err != http.ErrServerClosed {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
