/** Replays of runs over REST. */
import Type from 'typebox'
import { ReplayMode } from '../enums.ts'
import { CLOSED } from '../scalars.ts'
import { submitRunFields } from './submit-run.ts'

import type { Static } from '../../static.ts'

const { tags, runId, webhooks } = submitRunFields

/** Body of `POST /api/runs/{runId}/replay`. */
export const ReplayRunBody = Type.Object(
  {
    /** `frozen` takes everything from the record; `models` calls models, and takes everything else from the record. */
    mode: ReplayMode,
    tags,
    runId,
    webhooks,
  },
  CLOSED,
)
export type ReplayRunBody = Static<typeof ReplayRunBody>
