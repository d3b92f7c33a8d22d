// Package web is the page at /docs, made from the OpenAPI document.
package web
