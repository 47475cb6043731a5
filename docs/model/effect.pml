/* The effect (section 5): the ledger's verbs, the runner's call to the sink, the look-up at the sink.
 *
 * The sink is the worst one: it refuses nothing and carries out every call that reaches it. A sender that
 * was paused may still send until deadline plus settle time, which is when its permit is SETTLED here.
 */

#define PERMITTED      permit[permits]
#define ETAG           (2 * permits + (PERMITTED.moment == SETTLED))
#define IS_IN_DOUBT    (effect == UNKNOWN || (effect == EXECUTING && (PERMITTED.moment != LIVE || IS_OLD(PERMITTED.grant))))

#ifdef APPROVAL_OUTLIVES_CLAIM
#define IS_APPROVED(f) (!non_replayable || approval != 0)
#else
#define IS_APPROVED(f) (!non_replayable || approval == f)
#endif
#ifdef PERMIT_REPLAYED
#define IS_EXECUTABLE  (effect == PREPARED || effect == EXECUTING)
#else
#define IS_EXECUTABLE  (effect == PREPARED)
#endif
#ifdef CONFIRM_WITHOUT_PERMIT
#define CONFIRMS(f, p) (effect == PREPARED || effect == EXECUTING)
#else
#define CONFIRMS(f, p) (effect == EXECUTING && p == permits && permit[p].grant == f && permit[p].moment == LIVE)
#endif
#if defined(RECONCILE_BEFORE_DEADLINE)
#define IS_STRONG      (etag == ETAG)
#elif defined(RECONCILE_BEFORE_SETTLE)
#define IS_STRONG      (etag == ETAG && PERMITTED.moment != LIVE)
#elif defined(LOOK_UP_WITHOUT_ETAG)
#define IS_STRONG      (etag != 0 && PERMITTED.moment == SETTLED)
#else
#define IS_STRONG      (etag == ETAG && PERMITTED.moment == SETTLED)
#endif
#ifdef OPERATOR_LOOKED_EARLY
#define IS_STRONG_BY_OPERATOR (etag / 2 == permits && PERMITTED.moment == SETTLED)
#else
#define IS_STRONG_BY_OPERATOR IS_STRONG
#endif

inline prepare(f) {
	if
	:: HOLDS(f) && effect == NONE -> accepted(f); effect = PREPARED
	:: else
	fi
}

/* Commits the permit before the call. Any repeat is MUST_RECONCILE. */
inline execute(f) {
	if
	:: HOLDS(f) && IS_EXECUTABLE && !observed && IS_APPROVED(f) && permits < PERMITS ->
		accepted(f);
		permitted(f);
		permits++;
		PERMITTED.grant = f;
		PERMITTED.moment = LIVE;
		effect = EXECUTING;
		approval = 0
	:: else
	fi
}

/* A runner confirms a call that it made, or, confused, one that it has no permit for (p is 0). */
inline confirm(f, who) {
	if
	:: p = 0
	:: permit[1].sent && grant[permit[1].grant].runner == who -> p = 1
	:: permit[2].sent && grant[permit[2].grant].runner == who -> p = 2
	fi;
	if
	:: HOLDS(f) && CONFIRMS(f, p) -> accepted(f); effect = COMMITTED
	:: else ->
		if
		:: p != 0 && (effect == PREPARED || effect == EXECUTING || effect == UNKNOWN) -> observed = true
		:: else
		fi
	fi;
	p = 0
}

/* The runner does not know; also hand-back, an attempt that never got its permit's answer. */
inline unknown(f) {
	if
	:: HOLDS(f) && effect == EXECUTING && PERMITTED.grant == f -> accepted(f); effect = UNKNOWN
	:: else
	fi
}

inline abandon(f) {
	if
	:: HOLDS(f) && effect == PREPARED && !observed -> accepted(f); effect = ABANDONED
	:: else
	fi
}

/* What was found is so; what was not found counts only when the look-up began after deadline plus settle. */
inline record(is_strong) {
	if
	:: etag != 0 && found -> effect = COMMITTED; observed = false
	:: etag != 0 && !found && is_strong -> did_not_happen(); effect = PREPARED
	:: else
	fi
}

/* By the holder, with the declared look-up; for NON_REPLAYABLE only an operator does it. */
inline reconcile(f) {
	if
	:: HOLDS(f) && IS_IN_DOUBT && !non_replayable -> accepted(f); record(IS_STRONG)
	:: else
	fi
}

/* By an operator, of any task, the final ones too; a standing observation lets it start from PREPARED. */
inline reconcile_for_all() {
	if
	:: IS_IN_DOUBT -> record(IS_STRONG_BY_OPERATOR)
#ifdef LATE_SENDER
	:: effect == PREPARED && observed && etag != 0 && found -> effect = COMMITTED; observed = false
#endif
	:: else
	fi
}

inline write_off() {
	if
	:: IS_IN_DOUBT -> effect = WRITTEN_OFF; observed = false
	:: else
	fi
}

/* Bound to the attempt, and with it to generation and epoch. */
inline approve() {
	if
	:: non_replayable && effect == PREPARED && state == CLAIMED && !IS_OLD(grants) -> approval = grants
	:: else
	fi
}

/* The sweep: a permit past its deadline, or below the epoch. */
inline overdue() {
	if
	:: effect == EXECUTING && IS_IN_DOUBT -> effect = UNKNOWN
	:: else
	fi
}

/* From live to past the deadline, then past the settle time. */
inline pass(p) {
	if
	:: permit[p].moment == LIVE -> permit[p].moment = PAST_DEADLINE
	:: else -> permit[p].moment = SETTLED
	fi
}

/* ---- Outside ------------------------------------------------------------------------------------------ */

#ifdef LATE_SENDER
#define MAY_STILL_SEND(p) true
#else
#define MAY_STILL_SEND(p) (permit[p].moment != SETTLED)
#endif
#if defined(SINK_REFUSES_BY_DEADLINE)
#define SINK_TAKES(p) (permit[p].moment == LIVE)
#elif defined(SINK_REFUSES_BY_EFFECT_ID)
#define SINK_TAKES(p) (calls == 0)
#elif defined(SINK_REFUSES_BY_GENERATION)
#define SENT_AS(p)    (grant[permit[p].grant].generation)
#define SINK_TAKES(p) (!permit[3 - p].sent || SENT_AS(p) >= SENT_AS(3 - p))
#else
#define SINK_TAKES(p) true
#endif

#define CAN_CALL(p, who) (permits >= p && !permit[p].sent && grant[permit[p].grant].runner == who && MAY_STILL_SEND(p))

inline send(p) {
	permit[p].sent = true;
	if
	:: SINK_TAKES(p) -> calls++
	:: else
	fi;
	check_sink()
}

/* The call is outside every transaction: nothing is checked between it and the permit. */
inline call(who) {
	if
	:: d_step { CAN_CALL(1, who) -> send(1) }
	:: d_step { CAN_CALL(2, who) -> send(2) }
	fi
}

inline look() { d_step { permits > 0 -> found = (calls > 0); etag = ETAG } }
