/** The codes of ensembles, by build. */

/** The build and the code of a run or a process. */
export interface RunCode {
  readonly build: string
  /** Digest of the ensemble's code. */
  readonly code: string
}

/** Code of one ensemble in a build. */
export interface BuildCode extends RunCode {
  readonly ensemble: string
}

/** Code that a new run gets. */
export interface ChosenCode extends RunCode {
  /** Whether the submission names the build. No other build takes the run before it has begun. */
  readonly isFixed: boolean
}
