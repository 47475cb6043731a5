/* Good endings, each of which the verifier must find: a model that cannot reach them would keep any promise. */

#if defined(ENDS_BY_ITS_FIRST_RUNNER)
#define REACHED (state == DONE && grants == 1)
#elif defined(ENDS_BY_ANOTHER_RUNNER)
#define REACHED (state == DONE && grants == 2 && grant[1].runner != grant[2].runner)
#elif defined(ENDS_IN_A_RAISED_EPOCH)
#define REACHED (state == DONE && grants == 2 && grant[1].epoch < grant[2].epoch)
#elif defined(ENDS_WITH_THE_CALL_OF_A_LOST_RUNNER)
#define REACHED (state == DONE && effect == COMMITTED && permits == 1 && permit[1].grant < grants)
#elif defined(ENDS_WITH_A_SECOND_PERMIT)
#define REACHED (state == DONE && effect == COMMITTED && permits == 2 && !permit[1].sent && permit[2].sent)
#elif defined(ENDS_WITH_AN_APPROVED_CALL)
#define REACHED (state == DONE && effect == COMMITTED && non_replayable)
#elif defined(ENDS_CANCELLED_AND_SETTLED)
#define REACHED (state == CANCELLED && effect == COMMITTED)
#endif
