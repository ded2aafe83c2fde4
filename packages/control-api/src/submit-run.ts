/** Submits what a body or a message asks for. */
import { notImplemented } from './not-implemented.ts'

import type { SubmitRunBody } from '@tutti/protocol'
import type { RunRecord, RunService, SubmitRun } from '@tutti/runs'

/** Parts of a submission that this version knows but does not act on. */
const NOT_YET = ['tasks', 'taskOverrides', 'options'] as const

/**
 * Submits a run; the same one again under the same idempotency key is the run that it was.
 *
 * @throws {TuttiError} as `RunService.submit`, and NOT_IMPLEMENTED naming every field that this version
 * does not act on; nothing is ignored in silence.
 */
export function submitRun(
  runs: RunService,
  body: SubmitRunBody,
  { idempotencyKey }: Pick<SubmitRun, 'idempotencyKey'> = {},
): Promise<RunRecord> {
  const refused = NOT_YET.filter((field) => body[field] !== undefined)
  if (refused.length > 0) {
    throw notImplemented(refused.map((field) => `"${field}"`).join(', '))
  }
  const { ensemble, inputs, tags, runId } = body
  return runs.submit({
    ...(ensemble === undefined ? {} : { ensemble }),
    ...(inputs === undefined ? {} : { inputs }),
    ...(tags === undefined ? {} : { tags }),
    ...(runId === undefined ? {} : { runId }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  })
}
