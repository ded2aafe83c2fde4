/** Requests of a protocol with their caller, and the audit of their actions. */
import { assertScope, type Caller } from '../caller.ts'
import { audited, type AuditSubject, type AddSubject } from '../http/audited.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { Scope } from '@tutti/protocol'

/** The action of the control API that a foreign request performs. */
export interface GatewayAction extends AuditSubject {
  /** Name of the corresponding route. */
  readonly name: 'submitRun' | 'cancelRun' | 'decideReview' | 'injectDirective' | 'invokeTool'
  /** Scope that the caller needs; null when it acts on its own run as a consequence of an earlier request. */
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

/** Creates a call that records each action in the audit trail; `about` is the common subject of its actions. */
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

/** Creates a call whose route or message is recorded in the audit trail as a whole. */
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
