// Package contract holds the API, as a black box, against the OpenAPI document that it serves.
package contract
