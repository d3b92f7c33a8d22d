// Command service stands in for waypost-origin and waypost-edge in tests of the launcher: it answers /readyz on its
// ops listener, /env?name= with its environment, dies at /die, and holds its ports like a real one. On its public
// listener it knows the admin key wp_test_key, unless WAYPOST_TEST_REVOKED is set. As "key create" it prints
// wp_rescue_key if it is told where the database is.
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
	if len(os.Args) > 1 && os.Args[1] == "key" {
		if _, err := os.Stat(os.Getenv("WAYPOST_DATABASE_URL_FILE")); err != nil {
			fail(err)
		}
		fmt.Println("wp_rescue_key")
		return
	}
	if path := os.Getenv("WAYPOST_ADMIN_KEY_FILE"); path != "" {
		if _, err := os.Stat(path); err != nil {
			if err := os.WriteFile(path, []byte("wp_test_key\n"), 0o600); err != nil {
				fail(err)
			}
		}
	}
	if addr := os.Getenv("WAYPOST_INTERNAL_LISTEN"); addr != "" {
		if _, err := net.Listen("tcp", addr); err != nil {
			fail(err)
		}
	}
	public, err := net.Listen("tcp", os.Getenv("WAYPOST_LISTEN"))
	if err != nil {
		fail(err)
	}
	go http.Serve(public, http.HandlerFunc(answerKey)) //nolint:errcheck,gosec // ends with the process
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

func answerKey(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer wp_test_key" || os.Getenv("WAYPOST_TEST_REVOKED") != "" {
		w.WriteHeader(http.StatusUnauthorized)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
