/** On whose behalf a protocol acts, and how its actions are recorded. */
import { assertScope, type Caller } from '../caller.ts'
import { audited, type AuditSubject, type AddSubject } from '../http/audited.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { Scope } from '@tutti/protocol'

/** An action of the control API that a foreign request amounts to. */
export interface GatewayAction extends AuditSubject {
  /** Name of the route that does the same. */
  readonly name: 'submitRun' | 'cancelRun' | 'decideReview' | 'injectDirective' | 'invokeTool'
  /** Scope that the caller needs; null when the action follows from an earlier one. */
  readonly scope: Scope | null
}

/** One foreign request. */
export interface GatewayCall {
  readonly caller: Caller
  /**
   * Performs an action if the caller has its scope.
   *
   * @throws {TuttiError} FORBIDDEN, and what `work` throws.
   */
  perform<T>(action: GatewayAction, work: (addSubject: AddSubject) => Promise<T>): Promise<T>
}

/** A request whose every action is an entry of the audit trail; `about` is what all of them are about. */
export function auditedCall(
  { trail, clock }: Pick<GatewayOptions, 'trail' | 'clock'>,
  caller: Caller,
  about: AuditSubject = {},
): GatewayCall {
  return {
    caller,
    perform({ name: action, scope, ...subject }, work) {
      const asked = { caller, action, via: 'http', ...about, ...subject } as const
      return audited(asked, { trail, now: clock.now() }, async (addSubject) => {
        assertScope(caller, scope)
        return work(addSubject)
      })
    },
  }
}

/** A request that its route or message has in the audit trail as a whole. */
export function recordedCall(
  caller: Caller,
  addSubject: AddSubject = () => undefined,
): GatewayCall {
  return {
    caller,
    async perform({ scope }, work) {
      assertScope(caller, scope)
      return work(addSubject)
    },
  }
}
