/* The invariants of section 7, as far as one task and one effect can break them.
 *
 * `authority` is the attempt that has the authority in truth, whatever the numbers say: the oracle that the
 * numbers are held against. The first operand of each assertion names the invariant for `scripts/model`.
 */

#define INVARIANT(number, holds) assert((number) && (holds))
#define LOST_WRITE 20 /* the contract's promise: no write by a runner that has lost its authority */
#define UNRESOLVED 30 /* section 5: no commit while an effect is unresolved */

/* A fence from the grants up to now whose commit would be accepted at this moment. */
#define COULD_COMMIT(f) (f <= grants && (state == CLAIMED || state == DELIVERED) \
	&& !COMMIT_IS_CANCELLED(f) && !COMMIT_IS_FENCED(f, epoch))
#define IS_NUMBERED_RIGHT(f) (f > grants || (grant[f].generation == generation) == (authority == f))

/* At every write that is accepted under a fence. */
inline accepted(f) {
	INVARIANT(4, grant[f].epoch == epoch);
	INVARIANT(LOST_WRITE, authority == f)
}

inline granted() { INVARIANT(4, grant[grants].epoch == epoch) }

/* Where a commit goes on to the next check. */
inline not_told_of_a_cancel() { INVARIANT(5, state != CANCELLED) }

/* Just before a permit is written. */
inline permitted(f) {
	INVARIANT(9, permits == 0 || (denied && PERMITTED.moment != LIVE));
	INVARIANT(9, !non_replayable || approval == f);
	denied = false
}

/* Just before DID_NOT_HAPPEN is recorded. */
inline did_not_happen() {
	INVARIANT(9, PERMITTED.moment != LIVE);
	denied = true
}

/* Asked for a good ending, the verifier must find it: an assertion that has to fail. */
inline is_reached() {
#ifdef REACHED
	assert(!(REACHED))
#else
	skip
#endif
}

/* After every transaction, and after every raise of the epoch. */
inline check() {
	INVARIANT(1, COULD_COMMIT(1) + COULD_COMMIT(2) + COULD_COMMIT(3) <= 1);
	INVARIANT(5, !(commits > 0 && state == CANCELLED));
	INVARIANT(2, commits <= 1 && (commits == 1) == (state == DONE));
	INVARIANT(3, generation >= highest);
	INVARIANT(3, IS_NUMBERED_RIGHT(1) && IS_NUMBERED_RIGHT(2) && IS_NUMBERED_RIGHT(3));
	INVARIANT(9, effect != EXECUTING || (state == CLAIMED && authority == PERMITTED.grant));
	INVARIANT(UNRESOLVED, state != DONE || RESOLVED);
	highest = generation;
	is_reached()
}
