package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
)

// loopback is the only address anything here listens on.
const loopback = "127.0.0.1"

// ports of the local stack, all on 127.0.0.1.
type ports struct {
	edgeEU, edgeUS            int
	originAPI, originInternal int
	opsEU, opsUS, opsOrigin   int
	postgres                  int
	redisEU, redisUS          int
	nats                      int
}

// fixedPorts are those of a stack that is not moved.
func fixedPorts() ports {
	return ports{
		edgeEU: 8080, edgeUS: 8081,
		originAPI: 9000, originInternal: 9001,
		opsEU: 9180, opsUS: 9181, opsOrigin: 9100,
		postgres: 9432, redisEU: 9379, redisUS: 9380, nats: 9222,
	}
}

// newPorts returns the fixed ports, each moved by shift. The error says when one leaves 1 to 65535.
func newPorts(shift int) (ports, error) {
	p := fixedPorts()
	var wrong error
	for _, port := range []*int{
		&p.edgeEU, &p.edgeUS, &p.originAPI, &p.originInternal, &p.opsEU, &p.opsUS, &p.opsOrigin,
		&p.postgres, &p.redisEU, &p.redisUS, &p.nats,
	} {
		*port += shift
		if *port < 1 || *port > 65535 {
			wrong = fmt.Errorf("%s=%d moves port %d to %d, which is no port", shiftEnv, shift, *port-shift, *port)
		}
	}
	return p, wrong
}

// claims returns every port with the part that wants it.
func (p ports) claims() []claim {
	return []claim{
		{"postgres", p.postgres},
		{"redis-eu", p.redisEU},
		{"redis-us", p.redisUS},
		{"nats", p.nats},
		{"origin (API)", p.originAPI},
		{"origin (internal)", p.originInternal},
		{"origin (ops)", p.opsOrigin},
		{"edge-eu", p.edgeEU},
		{"edge-eu (ops)", p.opsEU},
		{"edge-us", p.edgeUS},
		{"edge-us (ops)", p.opsUS},
	}
}

// claim is one port and whose it is.
type claim struct {
	part string
	port int
}

// checkFree binds every port for a moment. The error is one line about the first that somebody else holds.
func (p ports) checkFree(ctx context.Context) error {
	for _, c := range p.claims() {
		var lc net.ListenConfig
		l, err := lc.Listen(ctx, "tcp", at(c.port))
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("port %d, wanted by %s, is in use: stop what listens there, or move all ports with %s=n (%s from another stack's)",
				c.port, c.part, shiftEnv, shiftsApart())
		}
		if err != nil {
			return fmt.Errorf("port %d, wanted by %s: %w", c.port, c.part, err)
		}
		if err := l.Close(); err != nil {
			return fmt.Errorf("port %d: %w", c.port, err)
		}
	}
	return nil
}

// shiftsApart says by how much the shifts of two stacks must differ for them to share no port: by less than the first
// distance between two ports that is more than that of neighbours, or by more than the greatest distance.
func shiftsApart() string {
	distances := make(map[int]bool)
	greatest := 0
	claims := fixedPorts().claims()
	for _, a := range claims {
		for _, b := range claims {
			distances[a.port-b.port] = true
			greatest = max(greatest, a.port-b.port)
		}
	}
	const least = 2 // some ports are neighbours
	most := least
	for !distances[most+1] {
		most++
	}
	return fmt.Sprintf("%d to %d or at least %d", least, most, greatest+1)
}

// at returns "127.0.0.1:port".
func at(port int) string { return fmt.Sprintf("%s:%d", loopback, port) }
