/** Property tests draw the same examples in every run, so that a failure is one for everybody; TRUELINE_SEED tries others. */
import fc from 'fast-check';

fc.configureGlobal({ seed: Number(process.env.TRUELINE_SEED ?? 1) });
