/** Forks of runs over REST. */
import Type from 'typebox'
import { CLOSED, Count, NonBlank } from '../scalars.ts'
import { submitRunFields } from './submit-run.ts'

import type { Static } from '../../static.ts'

const { inputs, taskOverrides, tags, runId, webhooks } = submitRunFields

/** Body of `POST /api/runs/{runId}/fork`. What it does not set is as in the forked run, except for webhooks. */
export const ForkRunBody = Type.Object(
  {
    /** `seq` of the last event that the fork copies; or the task before whose first event the fork begins. */
    at: Type.Union([Count, Type.Object({ task: NonBlank }, CLOSED)]),
    inputs,
    taskOverrides,
    tags,
    runId,
    webhooks,
    /** Whether tools that are not idempotent may be called again; false when absent. */
    allowSideEffects: Type.Optional(Type.Boolean()),
  },
  CLOSED,
)
export type ForkRunBody = Static<typeof ForkRunBody>
