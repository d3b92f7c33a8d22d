// Command roundtrips asks a server for one thing after the other, by the client that a service of Waypost would use,
// and prints how long each took: what a tier cannot be faster than.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"waypost/bench/measure"
)

// warmUp is how often is asked before the first time that counts.
const warmUp = 200

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "roundtrips:", err)
		os.Exit(1)
	}
}

// run reads names, a line each, asks for them in turns, and writes a line of nanoseconds for each answer.
func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	flags := flag.NewFlagSet("roundtrips", flag.ContinueOnError)
	kind := flags.String("kind", "", "what is asked: redis (GET), postgres (SELECT of a link) or http (GET)")
	url := flags.String("url", "", "where it is: redis://…, postgres://… or http://…")
	rate := flags.Float64("rate", 1000, "questions a second, whether or not the ones before are answered")
	lasting := flags.Duration("lasting", time.Second, "for how long")
	workers := flags.Int("workers", 1, "questions at once")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var names []string
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		names = append(names, lines.Text())
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if len(names) == 0 || *rate <= 0 || *workers < 1 {
		return errors.New("no names, no rate or no workers")
	}
	ask, hangUp, err := connect(ctx, *kind, *url, *workers)
	if err != nil {
		return err
	}
	times, err := timed(ctx, *rate, *lasting, *workers, func(worker, job int) error {
		name := names[job%len(names)]
		if err := ask(ctx, worker, name); err != nil {
			return fmt.Errorf("%s %q: %w", *kind, name, err)
		}
		return nil
	})
	if err := errors.Join(err, hangUp(ctx)); err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	for _, d := range times {
		_, _ = fmt.Fprintln(w, d.Nanoseconds()) // Flush tells
	}
	return w.Flush()
}

// timed asks at a rate and returns the time of each answer, from the moment at which it was asked for. Time before that,
// when all workers were busy, does not count.
func timed(ctx context.Context, rate float64, lasting time.Duration, workers int, ask func(worker, job int) error) ([]time.Duration, error) {
	for i := range warmUp {
		if err := ask(i%workers, i); err != nil {
			return nil, err
		}
	}
	times := make([]time.Duration, max(int(rate*lasting.Seconds()), 1))
	pace := measure.Pace{Every: time.Duration(float64(time.Second) / rate), Jobs: len(times), Workers: workers}
	_, err := pace.Run(ctx, func(worker, job int) error {
		began := time.Now()
		err := ask(worker, job)
		times[job] = time.Since(began)
		return err
	})
	return times, err
}
