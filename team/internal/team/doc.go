// Package team joins several machines on NATS JetStream: one timeline, one list
// of who runs what, and sessions that move from one machine to another.
//
// The files of each machine are the truth. Hooks append to them and never wait
// for a network; [Shipper] reads what they wrote and publishes it. What a hub
// holds can be made again from the files at any time, under the same numbers.
//
// On the hub, in the account of the tenant:
//
//	OVT_EV               stream  ovt.ev.<machine>.<session>.<type>
//	KV_ovt_state         bucket  <machine>, <machine>.<session>
//	KV_ovt_lease         bucket  <session>, <session>.bundle
//	OBJ_ovt_obj_<machine> objects of one machine
//
// Invariants:
//
//   - Every event has one id, machine/session/number. It is published at least
//     once and counted once, whatever dies in between: the hub drops repeats it
//     remembers, the shipper asks the hub what it has before it repeats anything,
//     and every reader drops ids that it has seen.
//   - A machine can write under its own name only; see [permissions]. Nothing
//     here makes consumers on the hub: they could be told to deliver into the
//     name of somebody else.
//   - No message takes away what another machine wrote: no stream allows roll-ups,
//     and what several machines write, or have the hub write, keeps its history.
//     Readers take the newest message that is what it should be.
//   - A lease has one holder. Its token only grows, every step is a compare and
//     set, and what a holder does with it it does before its own clock says that
//     the lease has ended.
//   - What a person or a model wrote leaves the machine only for projects that
//     are shared, without the secrets that redact knows, and encrypted for the
//     team's recipients. Of events, only fields that are known to be plain names,
//     numbers and states.
//
// NATS, age and their types stay inside the package.
package team
