// Package acceptance has the record of one request's speculative decoding, the identities that hold for it, and the
// pool of many records. It does no I/O and keeps integers: every ratio is derived at the end, from the counts.
//
// For one request, A is the number of accepted draft tokens, D that of draft tokens, S that of verify steps, and j
// the number of draft tokens accepted in one step. Each step emits one more token than it accepts, the bonus token.
//
//	acceptance length      1 + A/S          tokens per step, at least 1
//	draft acceptance rate  A/D              0..1
//	accepted per verified  (A+S)/(D+S)      0..1
//
// A figure whose denominator is zero or unknown is absent. Engines count only steps that had a draft, and may accept
// tokens that are cut afterwards, so no relation between these counts and the number of completion tokens is assumed.
package acceptance
