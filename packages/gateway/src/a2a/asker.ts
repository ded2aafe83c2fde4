/** Who asks something over A2A, of which agent, and how. */
import { USAGE_EXTENSION } from '@tutti/protocol'
import { TuttiError } from '@tutti/core'

import { audited, type AuditSubject, type TellSubject } from '../http/audited.ts'
import { assertScope, type Caller } from '../caller.ts'
import { A2aError } from './a2a-error.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { Agent } from './agent.ts'
import type { Scope } from '@tutti/protocol'

/** One request over A2A. */
export interface Asker {
  readonly options: GatewayOptions
  readonly agent: Agent
  readonly caller: Caller
  /** Headers of the request. */
  readonly headers: Headers
  /** Aborts when the caller is gone; tasks go on. */
  readonly gone: AbortSignal
}

/** An action of the control API that a request over A2A amounts to. */
export interface Action extends AuditSubject {
  /** Name of the route that does the same. */
  readonly name: 'submitRun' | 'cancelRun' | 'decideReview' | 'injectDirective'
  readonly scope: Scope
}

/**
 * Does what changes something: for whom it is allowed, and told to the audit trail.
 *
 * @throws {TuttiError} FORBIDDEN, and whatever `work` throws.
 */
export async function act<T>(
  { options, caller }: Pick<Asker, 'options' | 'caller'>,
  { name: action, scope, ...subject }: Action,
  work: (tell: TellSubject) => Promise<T>,
): Promise<T> {
  const { trail, clock } = options
  const asked = { caller, action, via: 'http', ...subject } as const
  try {
    return await audited(asked, { trail, now: clock.now() }, async (tell) => {
      assertScope(caller, scope)
      return asRefusal(work(tell))
    })
  } catch (error) {
    throw TuttiError.isInstance(error) && error.cause instanceof A2aError ? error.cause : error
  }
}

/** An error of A2A in the form in which the audit trail knows refusals. */
async function asRefusal<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof A2aError)) throw error
    throw new TuttiError('BAD_REQUEST', error.message, { cause: error })
  }
}

/** The extensions that a caller asks for and the agent has; 0.3 named the header otherwise. */
export function activeExtensions(headers: Headers): readonly string[] {
  const asked = headers.get('a2a-extensions') ?? headers.get('x-a2a-extensions') ?? ''
  const names = asked.split(',').map((name) => name.trim())
  return names.includes(USAGE_EXTENSION) ? [USAGE_EXTENSION] : []
}
