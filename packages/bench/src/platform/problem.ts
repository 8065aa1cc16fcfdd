// An expected failure of a benchmark: one sentence that says what to do. Anything else that is thrown
// is a mistake in the program and keeps its stack.

export class BenchProblem extends Error {}
