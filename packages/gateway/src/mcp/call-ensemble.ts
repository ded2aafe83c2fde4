/** Runs an ensemble for an MCP client: one call is one run, however many rounds the client needs for it. */
import { ProtocolError, type ServerContext } from '@modelcontextprotocol/server'

import { findRecord } from '../runs/find-run.ts'
import { cancelAtDeadline } from '../peer/cancel-at-deadline.ts'
import { deadlineOf } from '../peer/task-reports.ts'
import { submitRun } from '../runs/submit-run.ts'
import { errorResult } from './call-error.ts'
import { callSurroundings, mcpRequest } from './call-surroundings.ts'
import { followRun } from './follow-run.ts'
import { liveGates, NO_GATES, roundGates, type Gates } from './gates.ts'
import { callerOf } from './mcp-caller.ts'
import { structuredTask } from './offers.ts'
import { tellerOf } from './teller-of.ts'
import { runArguments } from './run-arguments.ts'

import type { TellSubject } from '../http/audited.ts'
import type { GatewayOptions } from '../gateway-options.ts'
import type { RoundState, RoundStates } from './round-state.ts'
import type {
  CallToolResult,
  ElicitResult,
  InputRequiredResult,
} from '@modelcontextprotocol/server'
import type { Ensemble } from '@tutti/ensemble'

/** Tag of runs that were called for over MCP: under which name. */
const MCP_TAG = 'mcp'

/** Longest time limit that a timer takes, in milliseconds: a review has a limit of its own. */
const FOR_EVER_MS = 2 ** 31 - 1

/** A call, and what it works with. */
export interface EnsembleCall {
  readonly options: GatewayOptions
  readonly context: ServerContext
  readonly states: RoundStates
  /** Which protocol the client speaks. */
  readonly era: 'modern' | 'legacy'
  /** Whether the client shows forms. */
  readonly hasForms: boolean
  /** Name under which the ensemble was called. */
  readonly name: string
  readonly given: Readonly<Record<string, unknown>>
  readonly act: Act
}

/** Does something under the name and the scope of the call; refused for a caller who may not. */
export type Act = <T>(work: (tell: TellSubject) => Promise<T>) => Promise<T>

/**
 * What the run came to, or the form that has to be filled in before it goes on.
 *
 * @throws {TuttiError} BAD_REQUEST for arguments that do not fit, and as `submitRun`.
 * @throws {ProtocolError} when a round is not one of this call.
 */
export async function callEnsemble(
  call: EnsembleCall,
  ensemble: Ensemble,
): Promise<CallToolResult | InputRequiredResult> {
  const { options, context } = call
  const { signal } = context.mcpReq
  const state = stateOf(call)
  const runId = state?.runId ?? (await newRun(call, ensemble))
  try {
    if (state !== undefined) await findRecord(options.runs, runId)
    return await followRun({
      options,
      caller: callerOf(context),
      runId,
      valueTask: structuredTask(ensemble)?.name,
      toldSeq: state?.seq ?? -1,
      gates: await gatesOf(call, runId, state),
      signal,
      isSaid: call.era === 'legacy',
      tell: tellerOf(context),
    })
  } catch (error) {
    return errorResult(error, options, `The call of run ${runId} ended before it did`)
  }
}

/** Where an earlier round left off; undefined in the first. */
function stateOf({ context: { mcpReq }, name }: EnsembleCall): RoundState | undefined {
  const state = mcpReq.requestState<RoundState>()
  if (state?.tool === name) return state
  if (state === undefined && mcpReq.inputResponses === undefined) return undefined
  const problem =
    state === undefined
      ? 'inputResponses need the requestState of the result that asked for them'
      : `requestState is of a call of "${state.tool}", got "${name}"`
  throw new ProtocolError(INVALID_PARAMS, problem)
}

/** @see https://www.jsonrpc.org/specification#error_object */
const INVALID_PARAMS = -32_602

function newRun(
  { options, context, name, given, act }: EnsembleCall,
  ensemble: Ensemble,
): Promise<string> {
  return act(async (tell) => {
    const inputs = { ...runArguments(ensemble, given) }
    const { submit, deadlineMs } = callSurroundings(context.mcpReq._meta)
    const caller = callerOf(context)
    const body = { ensemble: ensemble.name, inputs, tags: { [MCP_TAG]: name } }
    const origin = mcpRequest(name, given, context)
    const run = await submitRun(options, body, { caller, origin, ...submit })
    tell({ runId: run.runId })
    void cancelAtDeadline({ run, deadlineAt: deadlineOf(run, deadlineMs) }, { options, caller })
    return run.runId
  })
}

async function gatesOf(
  { options, context, states, era, hasForms, name }: EnsembleCall,
  runId: string,
  state: RoundState | undefined,
): Promise<Gates> {
  const caller = callerOf(context)
  const mayDecide = caller.scopes.has('reviews:decide') || caller.scopes.has('admin')
  if (!hasForms || !mayDecide) return NO_GATES
  const desk = { options, caller, runId }
  const { mcpReq } = context
  if (era === 'legacy') {
    return liveGates({
      ...desk,
      elicit: async (params, signal): Promise<ElicitResult> =>
        mcpReq.send(
          { method: 'elicitation/create', params: { ...params } },
          { signal, timeout: FOR_EVER_MS },
        ),
    })
  }
  return roundGates({
    ...desk,
    declined: state?.declined ?? [],
    responses: mcpReq.inputResponses ?? {},
    mint: (seq, declined) => states.mint({ tool: name, runId, seq, declined }, context),
  })
}
