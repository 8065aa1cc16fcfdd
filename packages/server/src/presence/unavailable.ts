// The one failure of the shell that is nobody's fault here: a store or database that does not answer.
// Whoever asked is told to come again; it is not an error of the program.

export class Unavailable extends Error {}
