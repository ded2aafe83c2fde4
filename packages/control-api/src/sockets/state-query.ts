/** Answers `state_query`, with the bodies that the REST routes give. */
import { listRuns } from '../list-runs.ts'
import { runDetail } from '../run-detail.ts'
import { toCapabilities } from '../to-wire.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { ServerMessage, StateQuery } from '@tutti/protocol'

type StateResponse = Extract<ServerMessage, { type: 'state_response' }>

/** @throws {TuttiError} RUN_NOT_FOUND for the detail of an unknown run. */
export async function answerStateQuery(
  { requestId, query, runId = '', filter = {} }: StateQuery,
  options: ResolvedControlApiOptions,
): Promise<StateResponse> {
  const answer = (data: StateResponse['data']): StateResponse => ({
    type: 'state_response',
    requestId,
    data,
  })
  const { reads } = options
  if (query === 'capabilities') return answer(toCapabilities(options))
  if (query === 'runs') return answer(await reads.run(() => listRuns(options, filter)))
  return answer(await reads.run(() => runDetail(options, runId)))
}
