/**
 * Performs commands for routes and messages: body ─▶ command ─▶ run service ─▶ reply ─▶ response.
 *
 * By default the command has the fields of its body, and the response those of the reply and the run id. `SPECIAL`
 * has the commands that differ.
 */
import {
  actorOf,
  type AddSubject,
  type Caller,
  decideReview,
  findDecisionScope,
} from '@tutti/gateway/internal'
import { decode, RunCommand, type Scope } from '@tutti/protocol'
import {
  commandEntry,
  type CommandBody,
  type CommandResponse,
  type Decoded,
  type RunCommandKind,
} from '@tutti/protocol/internal'

import { assertFeedback } from './reviews.ts'
import { toInjectCommand, toSwitchCommand } from './to-command.ts'

import type { RunService } from '@tutti/runs'

/** A command, its sender and its target. */
export interface CommandCall<K extends RunCommandKind> {
  readonly runs: RunService
  readonly caller: Caller
  /** Id of the run or the review. */
  readonly target: string
  readonly body: CommandBody<K>
  /** Adds the run of a review to the audit entry. */
  readonly addSubject: AddSubject
}

const SPECIAL: {
  readonly [K in RunCommandKind]?: (call: CommandCall<K>) => Promise<CommandResponse<K>>
} = {
  async inject({ runs, target, body, caller }) {
    const { id } = await runs.send(target, toInjectCommand(body, caller))
    return { directiveId: id, status: 'ACTIVE' }
  },
  async switch_model({ runs, target: runId, body, caller }) {
    const switched = await runs.send(runId, toSwitchCommand(body, caller))
    return { runId, ...switched, status: 'APPLIED' }
  },
  async decide({ runs, target, body, caller, addSubject }) {
    assertFeedback(body)
    return decideReview(runs, target, { ...body, caller, addSubject })
  },
}

/**
 * Performs a command of a caller and returns its response.
 *
 * @throws {TuttiError} BAD_REQUEST for a body that its schema does not fully check, and as `RunService.send` and
 * `decideReview`.
 */
export async function performCommand<K extends RunCommandKind>(
  kind: K,
  call: CommandCall<K>,
): Promise<CommandResponse<K>> {
  const special: ((of: CommandCall<K>) => Promise<CommandResponse<K>>) | undefined = SPECIAL[kind]
  if (special !== undefined) return special(call)
  const { route, fromApi } = commandEntry(kind)
  const { runs, target: runId, body, caller } = call
  const command: unknown = Object.assign({ kind }, body, fromApi, actorOf(caller))
  const reply = await runs.send(runId, assertFits(kind, decode(RunCommand, command)))
  return assertFits(kind, decode(route.response, { runId, ...reply }))
}

/** Returns the scope that a caller needs for a command; for a review it depends on the review (GW-A7). */
export async function findCommandScope(
  kind: RunCommandKind,
  { runs, target, caller }: Pick<CommandCall<RunCommandKind>, 'runs' | 'target' | 'caller'>,
): Promise<Scope> {
  const entry = commandEntry(kind)
  return entry.target === 'reviewId' ? findDecisionScope(runs, target, caller) : entry.route.scope
}

/** @throws {TypeError} when a command of the table must be in `SPECIAL`, and is not. */
function assertFits<T>(kind: RunCommandKind, decoded: Decoded<T>): T {
  if (decoded.ok) return decoded.value
  const [problem] = decoded.problems
  throw new TypeError(`Cannot convert "${kind}": ${problem?.path ?? ''} ${problem?.message ?? ''}`)
}
