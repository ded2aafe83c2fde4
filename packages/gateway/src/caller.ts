/** Callers of requests and messages, and their permissions. */
import { TuttiError } from '@tutti/core'

import type { Scope } from '@tutti/protocol'
import type { Quota } from '@tutti/runs/adapter'

/** The sender of a request or a message. */
export interface Caller {
  /** Name of the key; undefined where no keys are set. */
  readonly name: string | undefined
  readonly scopes: ReadonlySet<Scope>
  /** Roles of the key; undefined where no keys are set, and every caller may decide every review. */
  readonly roles: ReadonlySet<string> | undefined
  /** Returns the current quota of the caller's runs; undefined for no limit. */
  readonly quota: () => Quota | undefined
  /** Address of the connection. */
  readonly remoteAddress: string | undefined
  /** Time at which the key expires, in milliseconds since 1970; Infinity for never. */
  readonly expiresAt: number
  /**
   * Counts one more request or message.
   *
   * @throws {TuttiError} RATE_LIMITED when it exceeds the rate limit, UNAUTHORIZED when the key has
   * expired meanwhile.
   */
  readonly count: () => void
}

/** Returns the caller of requests that need no key. */
export function anyone(remoteAddress?: string): Caller {
  return {
    name: undefined,
    scopes: ALL,
    roles: undefined,
    quota: () => undefined,
    remoteAddress,
    expiresAt: Infinity,
    count: () => undefined,
  }
}

const ALL: ReadonlySet<Scope> = new Set(['admin'])

/** Whether a caller has a scope; `admin` includes all. */
export function hasScope({ scopes }: Pick<Caller, 'scopes'>, scope: Scope): boolean {
  return scopes.has(scope) || scopes.has('admin')
}

/**
 * Refuses a caller without a scope.
 *
 * @throws {TuttiError} FORBIDDEN, naming the scope that is missing.
 */
export function assertScope(caller: Caller, scope: Scope | null): void {
  if (scope === null || hasScope(caller, scope)) return
  const { name, scopes } = caller
  const held = [...scopes].join(', ') || 'none'
  const message = `Key "${name}" lacks the scope ${scope}; it has: ${held}`
  throw new TuttiError('FORBIDDEN', message, { details: { scope } })
}

/**
 * Refuses a caller that does not have the role that a review requires. The scope `admin` gives no role.
 *
 * @throws {TuttiError} FORBIDDEN, naming the role.
 */
export function assertRole(
  { name, roles }: Caller,
  { reviewId, role }: { readonly reviewId: string; readonly role: string | undefined },
): void {
  if (role === undefined || roles === undefined || roles.has(role)) return
  const held = [...roles].map((one) => `"${one}"`).join(', ') || 'none'
  throw new TuttiError(
    'FORBIDDEN',
    `Review "${reviewId}" requires the role "${role}"; key "${name}" has the roles: ${held}`,
    { details: { requiredRole: role } },
  )
}

/** Whether a caller may decide a review that requires this scope and this role. */
export function mayDecide(
  { scopes, roles }: Caller,
  { scope, role }: { readonly scope: Scope; readonly role: string | undefined },
): boolean {
  const hasRole = role === undefined || roles === undefined || roles.has(role)
  return hasRole && hasScope({ scopes }, scope)
}

/** Returns the name of a caller as runs and events store it. */
export function actorOf({ name }: Caller): { readonly actor?: string } {
  return name === undefined ? {} : { actor: name }
}
