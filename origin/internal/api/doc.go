// Package api is the public HTTP API of the origin: JSON over net/http, each
// operation described in code so that the OpenAPI document cannot drift from
// what is served.
package api
