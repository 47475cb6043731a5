/* claim.v1 as a model for Spin: one task, one effect, two runners, the people, the sweep, the clock.
 *
 * Promises: every step of the server is a transaction as the contract has it (section 3), and a runner may
 * present any fence it was ever granted, at any time: that is a runner that was paused, crashed, sent twice
 * or was overtaken on the wire. Not promised: what the README beside this file lists as left out.
 *
 * Each `#ifdef` takes one check out; `scripts/model` wants every one of them to be caught.
 */

#ifndef GRANTS
#define GRANTS 3  /* attempts that are ever granted, at most 3 */
#endif
#define EPOCHS 2  /* the first one, and one raise */
#define PERMITS 2 /* calls that are ever permitted */

mtype:task = { OPEN, CLAIMED, DELIVERED, HELD, DONE, CANCELLED }
mtype:effect = { NONE, PREPARED, EXECUTING, UNKNOWN, COMMITTED, ABANDONED, WRITTEN_OFF }
mtype:moment = { LIVE, PAST_DEADLINE, SETTLED }

typedef Grant { byte runner; byte epoch; byte generation; byte cancel }
typedef Permit { byte grant; mtype:moment moment; bool sent }

/* The pool and the task's row. `grants` is also the newest attempt, the one the row points at. */
byte epoch = 1;
mtype:task state = OPEN;
byte generation, cancel, grants, commits;
bool expired;
Grant grant[4];

/* The effect's row, and what the outside world knows. `calls` are those the sink has carried out. */
mtype:effect effect = NONE;
byte permits, approval, calls;
bool non_replayable, observed;
Permit permit[PERMITS + 1];

/* What somebody once saw at the sink, and the effect's etag of the moment at which the look-up began. */
bool found;
byte etag;

/* Who is inside a transaction: holds the row, and the shared side of the pool's lock. 0 is nobody. */
byte busy;

/* For the invariants alone; no verb reads these. */
byte authority, highest;
bool denied;

/* ---- The transaction (section 3) ---------------------------------------------------------------------- */

/* Statements 1 and 2 take the locks; statement 3 reads the epoch afresh, once they are held. Nothing that it
 * reads can change between them, so the honest model makes one step of the three. */
inline begin() {
#ifdef EPOCH_READ_BEFORE_LOCK
	seen = epoch;
	atomic { busy == 0 -> busy = _pid }
#else
	atomic { busy == 0 -> busy = _pid; seen = epoch }
#endif
}

/* The end of statement 4, or of a transaction that wrote nothing: refused, or its server was killed. */
inline finish() { check(); check_sink(); seen = 0; busy = 0 }

/* ---- The fence (section 4, order of checks) ----------------------------------------------------------- */

#define IS_CANCELLED(f) (state == CANCELLED || grant[f].cancel != cancel)
#define IS_OLD(f)       (grant[f].epoch != seen)
#define IS_LOST(f)      (grant[f].generation != generation)
#define HOLDS(f)        (!IS_CANCELLED(f) && !IS_OLD(f) && !IS_LOST(f) && state == CLAIMED)
#define RESOLVED        (effect == NONE || effect == COMMITTED || effect == ABANDONED || effect == WRITTEN_OFF)

#ifdef COMMIT_CHECKS_NO_CANCEL
#define COMMIT_IS_CANCELLED(f) false
#else
#define COMMIT_IS_CANCELLED(f) IS_CANCELLED(f)
#endif
#if defined(COMMIT_CHECKS_NO_EPOCH)
#define COMMIT_IS_FENCED(f, now) IS_LOST(f)
#elif defined(COMMIT_CHECKS_NO_GENERATION)
#define COMMIT_IS_FENCED(f, now) (grant[f].epoch != now)
#else
#define COMMIT_IS_FENCED(f, now) (grant[f].epoch != now || IS_LOST(f))
#endif
#ifdef COMMIT_BEFORE_EFFECTS
#define COMMIT_IS_EARLY false
#else
#define COMMIT_IS_EARLY (!RESOLVED)
#endif
#ifdef RENEW_REVIVES_LOST
#define RENEWS(f) (!IS_CANCELLED(f) && !IS_OLD(f) && state == CLAIMED)
#else
#define RENEWS(f) HOLDS(f)
#endif

/* ---- Grants and losses of authority (section 2) ------------------------------------------------------- */

inline raise_generation() { generation++ }

/* What every loss of authority does to the effect, in the same transaction. */
inline doubt() {
#ifndef LOSS_KEEPS_EXECUTING
	if
	:: effect == EXECUTING -> effect = UNKNOWN
	:: else
	fi;
#endif
#ifndef APPROVAL_OUTLIVES_CLAIM
	approval = 0;
#endif
	authority = 0
}

inline lose(target) { doubt(); expired = false; state = target }

/* Also where another authority ends: then the generation rises once for both. */
inline give(who) {
	doubt();
	grants++;
	grant[grants].runner = who;
	grant[grants].epoch = seen;
	grant[grants].generation = generation;
	grant[grants].cancel = cancel;
	expired = false;
	state = CLAIMED;
	authority = grants;
	granted()
}

/* ---- The verbs of a runner ---------------------------------------------------------------------------- */

inline claim(who) {
	if
	:: state == OPEN && grants < GRANTS && (grants > 0 || who == 1) ->
		raise_generation();
		give(who)
	:: state == CLAIMED && (expired || IS_OLD(grants)) && grants < GRANTS ->
#ifndef NO_BUMP_ON_TAKEOVER
		raise_generation();
#endif
		give(who)
	:: else
	fi
}

/* Also after the expiry: only generations decide who may write. */
inline renew(f) {
	if
	:: RENEWS(f) -> accepted(f); expired = false
	:: else
	fi
}

/* Release and fail: a runner gives the task back. */
inline release(f, target) {
	if
	:: HOLDS(f) ->
		accepted(f);
#ifndef NO_BUMP_ON_RELEASE
		raise_generation();
#endif
		lose(target)
	:: else
	fi
}

/* The only edge out of CLAIMED that leaves the generation: this fence can still be committed. */
inline deliver(f) {
	if
	:: HOLDS(f) && RESOLVED -> accepted(f); expired = false; state = DELIVERED
	:: else
	fi
}

/* The canonical commit. A runner's commit is of a CLAIMED task, a reviewer's accept of a DELIVERED one. */
inline commit(f, source) {
	if
	:: COMMIT_IS_CANCELLED(f)
	:: else ->
		not_told_of_a_cancel();
		if
		:: !COMMIT_IS_FENCED(f, seen) && state == source && !COMMIT_IS_EARLY ->
			accepted(f);
			raise_generation();
			lose(DONE);
			commits++
		:: else
		fi
	fi
}

#include "effect.pml"
#include "endings.pml"
#include "invariants.pml"
#ifdef SINK
#include "sink.pml"
#else
inline check_sink() { skip }
#endif

/* Any fence that this runner was ever granted, the current one or an old one. */
inline some_fence(f, who) {
	if
	:: grants >= 1 && grant[1].runner == who -> f = 1
	:: grants >= 2 && grant[2].runner == who -> f = 2
	:: grants >= 3 && grant[3].runner == who -> f = 3
	:: else -> f = 0
	fi
}

proctype Runner(byte me) {
	byte f, p, seen;
end:	do
	:: begin();
		atomic {
			if
			:: true -> claim(me)
			:: true -> some_fence(f, me);
				if
				:: f == 0
				:: else ->
					if
					:: true -> renew(f)
					:: true -> release(f, OPEN)
					:: true -> release(f, HELD)
					:: true -> deliver(f)
					:: true -> commit(f, CLAIMED)
					:: true -> prepare(f)
					:: true -> execute(f)
					:: true -> confirm(f, me)
					:: true -> unknown(f)
					:: true -> reconcile(f)
					:: true -> abandon(f)
					fi
				fi
			fi;
			f = 0;
			finish()
		}
	:: call(me)
	:: look()
	od
}

/* ---- The verbs of people ------------------------------------------------------------------------------ */

/* Reject: the delivery was read and is not wanted. */
inline reject() {
	if
	:: state == DELIVERED -> raise_generation(); lose(OPEN)
	:: else
	fi
}

/* A new attempt of the same runner; also for a delivery of an old epoch. */
inline request_changes() {
	if
	:: state == DELIVERED && grants < GRANTS -> raise_generation(); give(grant[grants].runner)
	:: else
	fi
}

/* Release-quiet, also of a live claim (evenIfLive). */
inline release_quiet() {
	if
	:: state == CLAIMED ->
#ifndef NO_BUMP_ON_OPERATOR_RELEASE
		raise_generation();
#endif
		lose(OPEN)
	:: else
	fi
}

inline requeue() {
	if
#ifdef REQUEUE_REOPENS_DONE
	:: state == HELD || state == DONE -> state = OPEN
#else
	:: state == HELD -> state = OPEN
#endif
	:: else
	fi
}

/* TOO_LATE after the commit; a second cancel answers the first. */
inline cancel_task() {
	if
#ifdef CANCEL_NEVER_TOO_LATE
	:: state != CANCELLED ->
#else
	:: state != CANCELLED && state != DONE ->
#endif
		cancel++;
		if
		:: state == CLAIMED || state == DELIVERED -> raise_generation()
		:: else
		fi;
		lose(CANCELLED)
	:: else
	fi
}

/* Takes the exclusive side of the pool's lock: it waits for every transaction that has the shared side. */
#ifdef RAISE_TAKES_NO_LOCK
#define POOL_IS_FREE true
#else
#define POOL_IS_FREE (busy == 0)
#endif
inline raise_epoch() {
	d_step { POOL_IS_FREE && epoch < EPOCHS -> epoch++; check() }
}

proctype People() {
	byte seen;
end:	do
	:: begin();
		atomic {
			if
			:: true -> commit(grants, DELIVERED)
			:: true -> reject()
			:: true -> request_changes()
			:: true -> release_quiet()
			:: true -> requeue()
			:: true -> cancel_task()
			:: true -> approve()
			:: true -> reconcile_for_all()
			:: true -> write_off()
			fi;
			finish()
		}
	:: raise_epoch()
	od
}

/* ---- The sweep and the clock -------------------------------------------------------------------------- */

/* AUTO opens an expired claim again, MANUAL holds one of an old epoch; the model allows both to both. */
inline lapse(target) {
	if
	:: state == CLAIMED && (expired || IS_OLD(grants)) ->
#ifndef NO_BUMP_ON_LAPSE
		raise_generation();
#endif
		lose(target)
	:: else
	fi
}

proctype Sweep() {
	byte seen;
end:	do
	:: begin();
		atomic {
			if
			:: true -> lapse(OPEN)
			:: true -> lapse(HELD)
			:: true -> overdue()
			fi;
			finish()
		}
	od
}

/* Time passes whenever it likes, in transactions too. */
proctype Clock() {
end:	do
	:: d_step { state == CLAIMED && !expired -> expired = true }
	:: d_step { permits >= 1 && permit[1].moment != SETTLED -> pass(1) }
	:: d_step { permits >= 2 && permit[2].moment != SETTLED -> pass(2) }
	od
}

init {
	atomic {
		if
		:: non_replayable = false
		:: non_replayable = true
		fi;
		run Runner(1);
		run Runner(2);
		run People();
		run Sweep();
		run Clock()
	}
}
