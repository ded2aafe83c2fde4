/** Runs an ensemble for an MCP client: one call is one run, over any number of rounds. */
import { ProtocolError, type ServerContext } from '@modelcontextprotocol/server'
import { MAX_TIMER_MS } from '@tutti/core/internal'

import { findRecord } from '../runs/find-run.ts'
import { auditedCall } from '../service/gateway-call.ts'
import { errorResult } from './answer.ts'
import { hasScope } from '../caller.ts'
import { mcpCallerOf, progressReporter } from './caller.ts'
import { followCall } from './follow-run.ts'
import { findStructuredTask } from './listed-tools.ts'
import { readCall, toMcpCall } from './request.ts'
import {
  liveReviews,
  NO_CALL_REVIEWS,
  roundReviews,
  type CallReviews,
  type ReviewContext,
} from './reviews.ts'

import type { GatewayService } from '../service/gateway-service.ts'
import type { RoundState, RoundStates } from './round-state.ts'
import type {
  CallToolResult,
  ElicitResult,
  InputRequiredResult,
} from '@modelcontextprotocol/server'
import type { Ensemble } from '@tutti/ensemble'

export interface EnsembleCall {
  readonly service: GatewayService
  readonly context: ServerContext
  readonly states: RoundStates
  /** Protocol era of the client. */
  readonly era: 'modern' | 'legacy'
  /** Whether the client can show forms. */
  readonly hasForms: boolean
  /** Name under which the ensemble was called. */
  readonly name: string
  readonly given: Readonly<Record<string, unknown>>
}

/**
 * Runs an ensemble and returns its result, or the form that a person must fill in first.
 *
 * @throws {TuttiError} BAD_REQUEST for invalid arguments, and as `GatewayService.begin`.
 * @throws {ProtocolError} when a round does not belong to this call.
 */
export async function callEnsemble(
  ensembleCall: EnsembleCall,
  ensemble: Ensemble,
): Promise<CallToolResult | InputRequiredResult> {
  const { service, context, name, given } = ensembleCall
  const { options } = service
  const caller = mcpCallerOf(context)
  const state = readRoundState(ensembleCall)
  const begin = auditedCall(options, caller, { target: name })
  const request = toMcpCall(name, given, context)
  const runId =
    state?.runId ?? (await service.begin(begin, () => readCall(request, ensemble))).runId
  const reviewContext = { service, call: auditedCall(options, caller), runId }
  try {
    if (state !== undefined) await findRecord(options.runs, runId, caller)
    return await followCall({
      ...reviewContext,
      valueTask: findStructuredTask(ensemble)?.name,
      lastSeq: state?.seq ?? -1,
      reviews: await createReviews(ensembleCall, reviewContext, state),
      signal: context.mcpReq.signal,
      isExplicit: ensembleCall.era === 'legacy',
      report: progressReporter(context),
    })
  } catch (error) {
    return errorResult(error, options, `Cannot follow run ${runId} to its end`)
  }
}

/** Returns the state of the previous round; undefined in the first round. */
function readRoundState({ context: { mcpReq }, name }: EnsembleCall): RoundState | undefined {
  const state = mcpReq.requestState<RoundState>()
  if (state?.tool === name) return state
  if (state === undefined && mcpReq.inputResponses === undefined) return undefined
  const problem =
    state === undefined
      ? 'inputResponses require the requestState of the result that requested them'
      : `requestState belongs to a call of "${state.tool}", got "${name}"`
  throw new ProtocolError(INVALID_PARAMS, problem)
}

/** @see https://www.jsonrpc.org/specification#error_object */
const INVALID_PARAMS = -32_602

async function createReviews(
  { context, states, era, hasForms, name }: EnsembleCall,
  reviewContext: ReviewContext,
  state: RoundState | undefined,
): Promise<CallReviews> {
  const { runId } = reviewContext
  const mayDecide = hasScope(mcpCallerOf(context), 'reviews:decide')
  if (!hasForms || !mayDecide) return NO_CALL_REVIEWS
  const { mcpReq } = context
  if (era === 'legacy') {
    return liveReviews({
      ...reviewContext,
      elicit: async (params, signal): Promise<ElicitResult> =>
        mcpReq.send(
          { method: 'elicitation/create', params: { ...params } },
          // A review has its own timeout.
          { signal, timeout: MAX_TIMER_MS },
        ),
    })
  }
  return roundReviews({
    ...reviewContext,
    declined: state?.declined ?? [],
    responses: mcpReq.inputResponses ?? {},
    mint: (seq, declined) => states.mint({ tool: name, runId, seq, declined }, context),
  })
}
