/** Checks that a run can start, and executes it. */
import { assertInputs, findUnknownInputs, type Inputs } from '../definition/inputs.ts'
import { assertTextSizes } from '../definition/text-limits.ts'
import { assertOptions } from './check-options.ts'
import { Run } from './run.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { RunHandle } from './run-handle.ts'
import type { RunResult } from './run-result.ts'
import type { RunOptions } from './run-options.ts'

/** Starts a run of `ensemble`; see `Ensemble.start`. */
export function startRun(
  ensemble: ResolvedEnsemble,
  inputs: Inputs,
  options: RunOptions,
): RunHandle {
  return createRun(ensemble, inputs, options).start()
}

/** Runs `ensemble`; see `Ensemble.run`. */
export function executeRun(
  ensemble: ResolvedEnsemble,
  inputs: Inputs,
  options: RunOptions,
): Promise<RunResult> {
  try {
    return createRun(ensemble, inputs, options).execute()
  } catch (error) {
    return Promise.reject(error)
  }
}

function createRun(ensemble: ResolvedEnsemble, inputs: Inputs, options: RunOptions): Run {
  // The host of a journal has accepted the run, perhaps with other code.
  const unknown = options.journal === undefined ? findUnknownInputs(ensemble, inputs) : []
  assertInputs(ensemble, inputs, unknown)
  assertTextSizes(ensemble, inputs, options.textLimits)
  assertOptions(ensemble, options)
  return new Run(ensemble, inputs, options)
}
