/** Submits what a body or a message asks for. */
import { TuttiError } from '@tutti/core'

import type { SubmitRunBody } from '@tutti/protocol'
import type { RunRecord, RunService } from '@tutti/runs'

/** Parts of a submission that this version knows but does not act on. */
const NOT_YET = ['tasks', 'taskOverrides', 'options'] as const

/**
 * Submits a run.
 *
 * @throws {TuttiError} as `RunService.submit`, and NOT_IMPLEMENTED naming every field that this version
 * does not act on; nothing is ignored in silence.
 */
export function submitRun(runs: RunService, body: SubmitRunBody): Promise<RunRecord> {
  const refused = NOT_YET.filter((field) => body[field] !== undefined)
  if (refused.length > 0) {
    throw new TuttiError(
      'NOT_IMPLEMENTED',
      `This version of the server does not support ${refused.map((field) => `"${field}"`).join(', ')}`,
    )
  }
  const { ensemble, inputs, tags, runId } = body
  return runs.submit({
    ...(ensemble === undefined ? {} : { ensemble }),
    ...(inputs === undefined ? {} : { inputs }),
    ...(tags === undefined ? {} : { tags }),
    ...(runId === undefined ? {} : { runId }),
  })
}
