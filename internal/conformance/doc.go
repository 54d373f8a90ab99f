// Package conformance holds no code of the product: its tests run the vectors of
// the specifications against it.
//
//	go test ./internal/conformance -vectors DIR
//
// maps each case's fn to the function of the product and compares the result
// with what the case demands. An fn or a key that the runner does not know is a
// failure, never a skip.
package conformance
