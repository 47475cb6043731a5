/* What the world outside has seen, when it can refuse nothing: held in addition to the invariants.
 *
 * It rests on the settle time: a paused sender sends before its permit's deadline plus settle time, or never.
 */

#define SECOND_CALL 40 /* no outside effect repeated on a guess */
#define UNTRUE 41      /* the ledger says COMMITTED of what was done, once */

inline check_sink() {
	INVARIANT(SECOND_CALL, calls <= 1);
	INVARIANT(UNTRUE, effect != COMMITTED || calls == 1)
}
