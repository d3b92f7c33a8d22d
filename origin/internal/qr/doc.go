// Package qr draws texts as QR codes.
package qr
