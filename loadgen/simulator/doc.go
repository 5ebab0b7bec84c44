// Package simulator is a simulated inference engine with speculative decoding: an OpenAI-compatible HTTP server whose
// answers have the form that vLLM 0.32 gives them, per-request acceptance included. It runs no model. Its text is
// random words, a request with tools gets them as the arguments of a call, and its acceptance is drawn by chance, so it shows how reports look, and says nothing of any drafter.
//
// Acceptance depends on the category of the prompt and falls with the position in the draft. Drafts can be shorter
// than the maximum or missing, as with n-gram drafters, and what is accepted past max_tokens is cut, as vLLM does.
// An answer depends on nothing but the configuration's seed, the prompt and the request's seed: neither on the order
// of requests nor on how many are served at a time.
package simulator
